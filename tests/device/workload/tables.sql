create table words(id integer primary key, word text, size int);
create index by_size on words(size, word);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 200)
insert into words select i, printf('word%04d', (i * 7919) % 1000), i % 17 from n;
select count(*), sum(size), min(word), max(word) from words;
select size, count(*) from words group by size having count(*) > 11 order by 2 desc, 1 limit 5;
select a.word, b.word from words a join words b on a.size = b.size and a.id < b.id
	where a.word like 'word01%' order by 1, 2 limit 5;
update words set size = size + 1 where id % 3 = 0;
delete from words where word glob '*9';
select json_extract('{"a":[1,2,{"b":3}]}', '$.a[2].b'), upper('x'), round(2.567, 1);
pragma integrity_check;
select * from nowhere;
