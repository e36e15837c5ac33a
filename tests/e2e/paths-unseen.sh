#!/bin/sh
# Labels that neither data nor a branch names, so that control comes to them unseen: of a
# computed goto by differences of addresses, of a goto out of a nested function, behind __builtin_setjmp(). Nothing may
# move over such a place in any mode, and what LITIFUT_MODE=coverage records is what the CPU executes.
. "$(dirname "$0")/../lib.sh"
few_targets armhf mips

unseen_source()
{
	cat >unseen.c <<-'END'
		#include <stdio.h>

		__attribute__((noipa)) static int out(int n) { return n * 3 + 1; }

		/* As the manual of GCC has it, and with less memory. */
		#define INTERPRET(name, type) \
		__attribute__((noipa)) static int name(const unsigned char *code, int n) \
		{ \
			static const type labels[] = {&&a - &&a, &&b - &&a, &&c - &&a, &&d - &&a, &&e - &&a}; \
			int sum = n; \
			goto *(&&a + labels[*code++]); \
		a: \
			sum += 3; \
			goto *(&&a + labels[*code++]); \
		b: \
			sum = out(sum); \
			goto *(&&a + labels[*code++]); \
		c: \
			if (sum & 1) \
				goto a; \
			sum ^= 4; \
			goto *(&&a + labels[*code++]); \
		d: \
			sum *= 3; \
			if (sum & 4) \
				goto b; \
			goto *(&&a + labels[*code++]); \
		e: \
			return sum; \
		}
		INTERPRET(by_word, int)
		#ifdef SHORT
		INTERPRET(by_half, short)
		#else
		#define by_half by_word
		#endif

		static void *buffer[5];
		__attribute__((noipa)) static void leave(int n)
		{
			if (n % 3 == 1)
				__builtin_longjmp(buffer, 1);
		}
		__attribute__((noipa)) static int come_back(int n)
		{
			volatile int sum = n;
			if (__builtin_setjmp(buffer)) {
				sum += 77;
				return sum & 1 ? sum + out(3) : sum;
			}
			switch (n % 7) {
			case 0: sum += 5; break;
			case 1: sum ^= 9; leave(n); break;
			case 2: sum *= 3; leave(sum); break;
			case 3: sum = out(sum); break;
			case 4: leave(n + 1); sum -= 3; break;
			}
			return sum;
		}
		int main(void)
		{
			unsigned sum = 0;

			for (int i = 0; i < 200; i++) {
				unsigned char code[20];

				for (int j = 0; j < 20; j++)
					code[j] = (unsigned char)((i * 7 + j * 13 + (i >> 3)) % 4);
				code[3 + i % 12] = code[18] = code[19] = 4;
				sum = sum * 5 + (unsigned)by_word(code, i) + (unsigned)by_half(code, i);
				sum = sum * 3 + (unsigned)come_back(i);
			}
			printf("%u\n", sum);
			return 0;
		}
	END
}

nested_source()
{
	cat >nested.c <<-'END'
		#include <stdio.h>

		__attribute__((noipa)) static int out(int n) { return n * 3 + 1; }
		__attribute__((noipa)) static int apply(int (*f)(int), int n) { return f(n) + 1; }
		__attribute__((noipa)) static int outer(int n)
		{
			__label__ away, other;
			int sum = 0;
			int inner(int m)
			{
				if (m % 3 == 1)
					goto away;
				if (m % 5 == 2)
					goto other;
				return m + sum;
			}
			for (int i = 0; i < 6; i++)
				switch ((n + i) % 9) {
				case 0: sum += out(i); break;
				case 1: sum ^= apply(inner, n + i); break;
				case 2: sum *= 3; break;
				case 3: sum -= apply(inner, sum & 15); break;
				case 4: sum += i; /* fall through */
				case 5: sum <<= 1; break;
				case 6: sum = out(sum); break;
				case 7: sum |= 1; break;
				}
			return sum;
		away:
			sum += 77;
			if (sum & 1)
				return sum + out(3);
			return sum;
		other:
			sum -= 3;
			return out(sum);
		}
		int main(void)
		{
			unsigned sum = 0;

			for (int i = 0; i < 200; i++)
				sum = sum * 5 + (unsigned)outer(i);
			printf("%u\n", sum);
			return 0;
		}
	END
}

# The bits behind a number that is none would lead elsewhere.
goes_on()
{
	# shellcheck disable=SC2046
	"$BUILD/bin/litifut-post" -q -f blocks -o blocks.tsv data $(traced_files) 2>post.log
	echo "$(awk -F "\t" '$4 != "gap"' blocks.tsv | wc -l) blocks"
	[ "$(awk -F "\t" '$4 != "gap"' blocks.tsv | wc -l)" -gt 1500 ]
}

behaviour()
{
	unseen_source
	nested_source
	for mode in coverage paths; do
		# the CPUs of armel may be older: there is no such mode
		[ "$target $mode" != "armel paths" ] || continue
		export LITIFUT_MODE="$mode"
		for options in "-O2" "-Os -no-pie" "-O2 -DSHORT"; do
			rm -rf plain/* traced/* data
			flags="$options -w"
			# a table of short differences is refused by the assembler of MIPS
			case "$cpu $options" in mips*SHORT) continue ;; esac
			link unseen ../unseen.c || continue
			same_run unseen
			if [ "$mode" = paths ]; then
				ok "unseen: the walk goes on" goes_on
			else
				flags_equal_edges unseen
			fi
			link nested ../nested.c -z execstack || continue
			same_run nested
			[ "$mode" = paths ] || flags_equal_edges nested
		done
	done
	for mode in calls spans table; do
		export LITIFUT_MODE="$mode"
		for options in "-O2" "-O3"; do
			rm -rf plain/* traced/* data
			flags="$options -w"
			link nested ../nested.c -z execstack && same_run nested
			link unseen ../unseen.c && same_run unseen
		done
	done
}

for_targets behaviour

