/** Scenario that runs in a fraction of a second: a hog, a victim, and a job id that is hostile to every output format. */
export const HOSTILE = `=cmd|'/c x'!A1,"<img src=x>\n`

export const SMALL = `
title: Two jobs and a hostile one
clients: { count: 4 }
oss:
  - name: oss01
    threads: 16
    osts: [{ name: x-OST0000, disk: { bandwidth_mb_s: 3200, per_op_us: 6400, channels: 4 } }]
control: { max_rate: 500 }
jobs:
  - { id: 1.hog.u1, user: ana, clients: [1], processes: 48, op: write, size_kib: 64, pattern: { kind: continuous } }
  - { id: 2.victim.u2, user: ben, clients: [2, 3], processes: 4, op: write, size_kib: 64, pattern: { kind: poisson, rate: 90 } }
  - { id: ${JSON.stringify(HOSTILE)}, clients: [4], op: read, size_kib: 64, pattern: { kind: poisson, rate: 5 } }
`
