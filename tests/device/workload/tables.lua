-- Tables, closures, coroutines, errors, a little text.
local function fib(n)
  return n < 2 and n or fib(n - 1) + fib(n - 2)
end

local words = {}
for word in ("the quick brown fox jumps over the lazy dog and the fox sleeps"):gmatch("%a+") do
  words[#words + 1] = word
end
table.sort(words, function(a, b)
  if #a ~= #b then return #a < #b end
  return a < b
end)

local made = coroutine.wrap(function()
  for i, word in ipairs(words) do
    coroutine.yield(i .. ":" .. word:upper())
  end
end)
local list = {}
for line in made do
  list[#list + 1] = line
end

local Point = setmetatable({}, { __call = function(class, x, y)
  return setmetatable({ x = x, y = y }, class)
end })
Point.__index = Point
Point.__add = function(a, b) return Point(a.x + b.x, a.y + b.y) end
local sum = Point(0, 0)
for i = 1, 100 do
  sum = sum + Point(i, -i)
end

local good, message = pcall(function() error({ code = 7 }) end)
print(fib(15), table.concat(list, " "))
print(sum.x, sum.y, good, message.code, ("%5.2f"):format(math.sqrt(2)))
os.exit(3)
