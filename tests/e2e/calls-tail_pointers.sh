#!/bin/sh
# Tail calls through pointers, which the oracle can't tell from jumps: each callee counts
# itself, and that is how many events lead to it. Switches and computed gotos, by
# addresses and by distances, are none: no event leads from their function into itself.
. "$(dirname "$0")/../lib.sh"
few_targets armhf armel mips

compiler()
{
	case $compiler in
	gcc) set -- "$triplet-gcc" "$@" ;;
	clang) set -- clang --target="$triplet" "$@" ;;
	esac
	[ "$compiler $target" = "clang armhf" ] && set -- "$@" -mthumb
	# shellcheck disable=SC2086
	${front:-} "$@" $machine_flags -g $flags
}

# the callees are called as often as they say
counts()
{
	for callee in one two three; do
		is "$compiler $flags: $callee" "$(recorded "$callee")" \
			"$(sed -n "s/^$callee //p" traced.out)"
	done
	is "$compiler $flags: jumps are not calls" "$(awk -F '\t' '
		$6 == $10 && $6 ~ /^(cases|labels|distances|skips|scratch)$/' events.tsv)" ""
}

behaviour()
{
	cat >main.c <<-'END'
		#include <stdio.h>
		#define KEEP __attribute__((noinline))
		volatile int sink;
		int ones, twos, threes;
		KEEP int one(int x) { ones++; return x + sink; }
		KEEP int two(int x) { twos++; return x * 2 + sink; }
		KEEP int three(int x) { threes++; return x - sink; }
		int (*table[])(int) = {one, two, three, two};
		int (*pointer)(int) = three;
		static struct operations { int tag; int (*first)(int), (*second)(int); } operations = {4, one, two};
		struct operations *others = &operations;
		KEEP int by_table(int x) { return table[x & 3](x); }
		KEEP int by_pointer(int x) { return pointer(x); }
		KEEP int by_member(int x) { return operations.first(x); }
		KEEP int by_structure(int x) { return others->second(x); }
		KEEP int by_either(int x) { return operations.tag > x ? operations.first(x) : others->second(x); }
		KEEP int by_argument(int (*callee)(int), int x) { return callee(x + 1); }
		KEEP int in_cases(int x, int y)
		{
			switch (x) {
			case 0: return pointer(y);
			case 1: return operations.first(y + 1);
			case 2: return table[y & 1](y);
			case 3: sink ^= y; return others->second(y);
			case 4: sink += 2; return table[2](y);
			case 5: return pointer(y - 1);
			}
			return x;
		}
		KEEP int behind_calls(int x) { int y = one(x) + by_pointer(x); return table[y & 3](y); }
		KEEP int cases(int x, int y)
		{
			switch (x) {
			case 0: y += sink; sink = y; break;
			case 1: y *= sink + 3; break;
			case 2: sink = y ^ 5; y -= 2; break;
			case 3: y = (int)((unsigned)y << (sink & 7)); break;
			case 4: y |= sink; sink++; break;
			case 5: y &= ~sink; break;
			case 6: sink = -y; break;
			case 7: y ^= sink * 7; break;
			case 9: y = 99 - sink; break;
			}
			return y;
		}
		/* so much at once that the link register holds some of it */
		KEEP unsigned scratch(const unsigned *v, int x, unsigned a, unsigned b)
		{
			unsigned c = v[0], d = v[1], e = v[2], f = v[3], g = v[4], h = v[5], i = v[6], j = v[7];
			for (int round = 0; round < 9; round++) {
				switch ((x + round) & 7) {
				case 0: a += b ^ j; break;
				case 1: b -= c * a; break;
				case 2: c ^= d + i; break;
				case 3: d += e * h; break;
				case 4: e -= f ^ g; h += a; break;
				case 5: f += g * b; i ^= c; break;
				case 6: g ^= h - d; j += e; break;
				case 7: a ^= f; c += j; i -= h; break;
				}
				a = a << 3 | a >> 29;
			}
			return a + b + c + d + e + f + g + h + i + j;
		}
		KEEP int labels(const unsigned char *p, int a)
		{
			static const void *const where[] = {&&l0, &&l1, &&l2, &&l3};
			goto *where[*p++];
		l0:	return a;
		l1:	a += sink; goto *where[*p++];
		l2:	a ^= 3; goto *where[*p++];
		l3:	a = (a & 255) * 3 + sink; goto *where[*p++];
		}
		KEEP int distances(const unsigned char *p, int a)
		{
			static const int where[] = {&&l0 - &&l0, &&l1 - &&l0, &&l2 - &&l0, &&l3 - &&l0};
			goto *(&&l0 + where[*p++]);
		l0:	return a;
		l1:	a += sink; goto *(&&l0 + where[*p++]);
		l2:	a ^= 3; goto *(&&l0 + where[*p++]);
		l3:	a = (a & 255) * 3 + sink; goto *(&&l0 + where[*p++]);
		}
		/* so little that nothing is on the stack at the jump */
		KEEP void skips(int x)
		{
			static const int where[] = {&&l1 - &&l0, &&l2 - &&l0};
			goto *(&&l0 + where[x]);
		l1:	sink += 2;
		l2:	sink++;
		l0:	return;
		}
		int main(void)
		{
			static const unsigned values[] = {3, 1, 4, 1, 5, 9, 2, 6};
			const unsigned char *steps = (const unsigned char *)"\1\2\3\2\1\0";
			unsigned sum = 0;
			for (int i = -1; i < 11; i++) {
				skips(i & 1);
				sum = sum * 31 + (unsigned)(by_table(i) + by_pointer(i) + by_member(i));
				sum ^= (unsigned)(by_structure(i) + by_either(i) + by_argument(table[i & 3], i));
				sum += (unsigned)(in_cases(i, i * 5) + behind_calls(i) + cases(i, (int)(sum & 1023)));
				sum += (unsigned)(labels(steps, i) + distances(steps, i)) + scratch(values, i, sum, 7);
			}
			printf("%u\none %d\ntwo %d\nthree %d\n", sum, ones, twos, threes);
			return 0;
		}
	END
	for each_flags in "gcc -O0" "gcc -O1" "gcc -O2" "gcc -Os" "gcc -O2 -fno-omit-frame-pointer" \
		"gcc -O2 -fno-pic -no-pie" "clang -O0" "clang -O2" "clang -O2 -fno-pic -no-pie"; do
		compiler=${each_flags%% *}
		flags=${each_flags#* }
		command -v "$compiler" >/dev/null || {
			skip "$each_flags" "there is no $compiler"
			continue
		}
		rm -rf plain traced
		link program ../main.c || continue
		same_run program
		events_equal_calls program
		counts
		events_equal_entries program
	done
	flags=
}

for_targets behaviour
