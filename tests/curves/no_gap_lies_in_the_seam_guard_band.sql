-- Protects: the seam threshold. It was measured in an empty band, and tells steps apart only while that stays empty.
-- Fails when: a gap ratio lies between `seam_guard_low` and `seam_guard_high`.
-- Not a check of: which side of the threshold a neighbour should be on.
{{ config(severity = 'warn') }}

select
    subject,
    detail
from {{ ref('curve_findings') }}
where kind = 'seam_guard_band'
