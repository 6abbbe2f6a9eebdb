-- Protects: the macros of macros/engine that have a body for each engine and stand in expressions.
-- Fails when: one says something else than written here, on the engine that runs this test.
-- Not a check of: the macros that make relations or keep records, which every build runs.
with
times as (
    select
        cast('2026-01-01 00:00:00' as timestamp) as midnight,
        cast('2026-01-01 01:30:00.000036' as timestamp) as later,
        cast(null as timestamp) as unknown
),

lists as (
    select
        name,
        split(letters, ',') as letters,
        split(others, ',') as others
    from (
        select
            'two' as name,
            'a,b' as letters,
            'x,y' as others
        union all
        select
            'none' as name,
            null as letters,
            null as others
    ) as texts
),

cases as (
    {%- set escape = "chr(92)" %}
    {%- set cases = [
        ("epoch_timestamp", epoch_timestamp("cast(1789453662 as bigint)"), "'2026-09-15 06:27:42'"),
        ("epoch_timestamp", epoch_timestamp("cast(0 as bigint)"), "'1970-01-01 00:00:00'"),
        ("epoch_timestamp", epoch_timestamp("cast(-1 as bigint)"), "'1969-12-31 23:59:59'"),
        ("epoch_timestamp", epoch_timestamp("cast(null as bigint)"), "null"),
        ("hours_between", hours_between("midnight", "later") ~ " = 1.50000001", "'true'"),
        ("hours_between", hours_between("later", "midnight") ~ " = -1.50000001", "'true'"),
        ("hours_between", hours_between("midnight", "midnight"), "'0.0'"),
        ("hours_between", hours_between("unknown", "midnight"), "null"),
        ("hours_between", hours_between("midnight", "unknown"), "null"),
        ("json_text", json_text("'\"a b\"'"), "'a b'"),
        ("json_text", json_text("concat('\"a', " ~ escape ~ ", '\"b\"')"), "'a\"b'"),
        ("json_text", json_text("concat('\"', " ~ escape ~ ", 'u00e9\"')"), "'é'"),
        ("json_text", json_text("'\"\"'"), "''"),
        ("json_text", json_text("'12'"), "'12'"),
        ("json_text", json_text("'-0.50'"), "'-0.50'"),
        ("json_text", json_text("'1e-5'"), "'1e-5'"),
        ("json_text", json_text("'12345678901234567890123'"), "'12345678901234567890123'"),
        ("json_text", json_text("'[1, \"a\"]'"), "'[1, \"a\"]'"),
        ("json_text", json_text("'null'"), "null"),
        ("json_text", json_text("'true'"), "'true'"),
        ("json_text", json_text("cast(null as string)"), "null"),
        ("matches_glob", matches_glob("'abc'", "'a*'"), "'true'"),
        ("matches_glob", matches_glob("'abc'", "'a*b'"), "'false'"),
        ("matches_glob", matches_glob("'abc'", "'A*'"), "'false'"),
        ("matches_glob", matches_glob("'abc'", "'a?c'"), "'true'"),
        ("matches_glob", matches_glob("'ac'", "'a?c'"), "'false'"),
        ("matches_glob", matches_glob("''", "'*'"), "'true'"),
        ("matches_glob", matches_glob("concat('a', chr(10), 'c')", "'a*c'"), "'true'"),
        ("matches_glob", matches_glob("'aé'", "'a?'"), "'true'"),
        ("matches_glob", matches_glob("'axc'", "'a%c'"), "'false'"),
        ("matches_glob", matches_glob("'a%c'", "'a%c'"), "'true'"),
        ("matches_glob", matches_glob("'axc'", "'a_c'"), "'false'"),
        ("matches_glob", matches_glob("'a_c'", "'a_c'"), "'true'"),
        ("matches_glob", matches_glob("'ab'", "'[a]b'"), "'false'"),
        ("matches_glob", matches_glob("'[a]b'", "'[a]b'"), "'true'"),
        ("matches_glob", matches_glob("'a!c'", "'a!c'"), "'true'"),
        ("matches_glob", matches_glob("'a!'", "'a!*'"), "'true'"),
        ("matches_glob", matches_glob("concat('a', " ~ escape ~ ", 'c')", "concat('a', " ~ escape ~ ", '?')"), "'true'"),
        ("matches_glob", matches_glob("cast(null as string)", "'*'"), "null"),
        ("matches_glob", matches_glob("'a'", "cast(null as string)"), "null"),
        ("replace_all", replace_all("'/home/a/x /home/b'", '/home/[^/\\s]+', '~'), "'~/x ~'"),
        ("replace_all", replace_all("concat('a', " ~ escape ~ ", 'b', " ~ escape ~ ", 'c')", '\\\\', '/'), "'a/b/c'"),
        ("replace_all", replace_all("concat('a', chr(39), 'b', chr(34))", '[\\x22\\x27]', '_'), "'a_b_'"),
        ("replace_all", replace_all("cast(null as string)", 'a', 'b'), "null")
    ] %}
    {%- for name, said, expected in cases %}
    select
        '{{ name }} {{ loop.index }}' as name,
        cast({{ said }} as string) as said,
        cast({{ expected }} as string) as expected
    from times
    union all
    {%- endfor %}
    select
        'explode_pairs' as name,
        min(concat(name, letter, other)) || max(concat(name, letter, other)) || cast(count(*) as string) as said,
        'twoaxtwoby2' as expected
    from lists {{ explode_pairs('letters', 'letter', 'others', 'other') }}
)

select
    name,
    said,
    expected
from cases
where said is distinct from expected
