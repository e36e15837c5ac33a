-- A little of everything that a Lua program does, with the same output on each
-- run: tables, strings, patterns, sorting, closures, errors, coroutines, files.
local function fibonacci(n)
  if n < 2 then return n end
  return fibonacci(n - 1) + fibonacci(n - 2)
end
print("fibonacci", fibonacci(12))

local words = {}
for word in ("the quick brown fox jumps over the lazy dog and the cat"):gmatch("%a+") do
  words[#words + 1] = word
end
table.sort(words, function(a, b) return a < b end)
print("sorted", table.concat(words, " "))

local counts = {}
for _, word in ipairs(words) do counts[word] = (counts[word] or 0) + 1 end
print("the", counts.the, "fox", counts.fox)

local text = {}
for i = 1, 100 do text[#text + 1] = string.format("%03d:%s", i, ("x"):rep(i % 7)) end
local joined = table.concat(text, ",")
print("length", #joined, joined:sub(1, 20), select(2, joined:gsub("x+", "")))

local ok, message = pcall(function() error({code = 7}) end)
print("error", ok, type(message), message.code)
print("error", pcall(function() local t = nil; return t.field end))
print("handled", xpcall(function() error("inner", 0) end, function(m) return "saw " .. m end))

local producer = coroutine.wrap(function()
  for i = 1, 20 do coroutine.yield(i * i) end
end)
local sum = 0
for value in producer do sum = sum + value end
print("squares", sum)

local class = setmetatable({}, {__index = function(_, key) return key .. "!" end,
                                __call = function(_, a, b) return a * b end})
print("meta", class.anything, class(6, 7))

local chunk = assert(load("local a, b = ... ; return a + b, a .. b"))
print("load", chunk(1, 2))
print("math", math.floor(3.7), math.max(1, 5, 3), 7 // 2, 7 % 3, 2 ^ 10)

collectgarbage()
local garbage = {}
for i = 1, 300 do garbage[i] = {i, tostring(i)} end
garbage = nil
collectgarbage()
print("done")
