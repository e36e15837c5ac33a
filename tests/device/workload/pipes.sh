# Functions, subshells and pipes of busybox's own shell: many short processes.
double()
{
	echo $(($1 * 2))
}
for number in 1 2 3; do
	double $number
done
case abc in
a*) echo match ;;
esac
x=$(echo sub | { read -r y; echo "$y$y"; })
echo "$x" | while read -r line; do echo "line $line"; done
(exit 4)
echo "status $?"
exit 3
