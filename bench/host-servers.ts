/**
 * Answers as the servers of host-world.ts, in a separate process: `second host command` per line on stdin; on stdout the length
 * of the answer as 32 bits, then the answer. Tables are filtered like the awk program on a server does
 * (electron/cluster/probes/job-filter.ts).
 */
import { createInterface } from 'node:readline'
import { readFiltered } from '#electron/cluster/probes/job-filter.ts'
import { formatEntry, OST_COUNTERS, type PrintableCounter } from '#core/lustre/job-stats-print.ts'
import { profile } from '#core/lustre/profile.ts'
import { isBusy, jobName, rpcsOf, reads, serverOf, hostOf, sizeOf, targetName, targetsOf } from './host-world.ts'
import { TARGETS, USECS, writes } from './host-world.ts'

const EPOCH_S = 1_767_225_600
const DEV = profile('dev')
const NAMES = OST_COUNTERS(DEV)
const jobs = Number(process.argv[2])
const share = Number(process.argv[3])
const first = Number(process.argv[4])

/** Table entry, counted from the second in which the servers were started. */
interface Entry {
  readonly job: number
  readonly target: number
  rpcs: number
  /** Time of the last change, s; the ns are equal for all. */
  movedS: number
  text: string
}

const tables: Entry[][] = Array.from({ length: TARGETS }, () => [])
for (let job = 0; job < jobs; job++) {
  for (const target of targetsOf(job)) {
    tables[target]?.push({ job, target, rpcs: 1000, movedS: EPOCH_S + first - 100, text: '' })
  }
}
let now = first

const counter = (
  samples: number,
  min: number,
  max: number,
  sum: number,
  bin: number | undefined,
): PrintableCounter => ({
  samples,
  min,
  max,
  sum,
  sumsq: String(BigInt(sum) * BigInt(max)),
  hist: new Map(bin === undefined ? [] : [[bin, samples]]),
})

function textOf(e: Entry): string {
  const size = sizeOf(e.job)
  const bytes = counter(e.rpcs, size, size, e.rpcs * size, 31 - Math.clz32(size))
  const usecs = counter(e.rpcs, 212, 90_211, e.rpcs * USECS, undefined)
  const counters = new Map<string, PrintableCounter>()
  if (reads(e.job)) counters.set('read_bytes', bytes).set('read', usecs)
  if (writes(e.job)) counters.set('write_bytes', bytes).set('write', usecs)
  counters.set('punch', counter(3, 1, 90, 120, undefined)).set('sync', counter(2, 900, 1900, 2800, undefined))
  const times = {
    snapshot: `${e.movedS}.000000777`,
    start: `${EPOCH_S - 900}.000${100_000 + e.job}`,
    elapsed: '900.000000001',
  }
  return formatEntry({ jobId: jobName(e.job), times, counters }, NAMES, DEV.text.jobStats)
}

function advance(second: number): void {
  while (now < second) {
    now++
    for (const table of tables) {
      for (const e of table) {
        if (!isBusy(e.job, now, share)) continue
        e.rpcs += rpcsOf(e.job, e.target, now)
        e.movedS = EPOCH_S + now
        e.text = ''
      }
    }
  }
}

function answer(host: string, command: string): string {
  if (command.includes('version')) return '2.16.1\n'
  const filtered = readFiltered(command)
  const asked = filtered?.reading ?? command
  const after = filtered?.after
  let out = ''
  if (asked.includes('job_stats')) {
    for (let target = 0; target < TARGETS; target++) {
      if (hostOf(serverOf(target)) !== host) continue
      const table = tables[target] as Entry[]
      const name = `obdfilter.${targetName(target)}.job_stats`
      const kept = after ? table.filter((e) => e.movedS > after.s || (e.movedS === after.s && 777 > after.ns)) : table
      out += `${name}=\njob_stats:\n${kept.map((e) => (e.text ||= textOf(e))).join('')}`
      const seconds = table.reduce((n, e) => n + e.movedS, 0)
      if (after) out += `${name}.sum=${table.length} ${kept.length} ${seconds} ${table.length * 777} 0\n`
    }
  }
  if (asked.includes('nrs_policies')) out += POLICIES
  if (asked.includes('nrs_tbf_rule')) out += RULES
  return out
}

const POLICIES = `ost.OSS.ost_io.nrs_policies=

regular_requests:
  - name: fifo
    state: started
    fallback: yes
    queued: 0
    active: 0

  - name: tbf
    state: started
    fallback: no
    queued: 12
    active: 4
    arg: jobid

`
const RULES = `ost.OSS.ost_io.nrs_tbf_rule=
regular_requests:
CPT 0:
default jobid={*} 10000, ref 0
`
for await (const line of createInterface({ input: process.stdin })) {
  const [second = '', host = '', ...words] = line.split(' ')
  advance(Number(second))
  const body = Buffer.from(answer(host, words.join(' ')), 'latin1')
  const head = Buffer.alloc(4)
  head.writeUInt32LE(body.length)
  process.stdout.write(head)
  process.stdout.write(body)
}
