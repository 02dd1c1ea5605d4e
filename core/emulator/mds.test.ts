import { describe, expect, it } from 'vitest'
import { parseJobStats } from '../lustre/job-stats.ts'
import type { EmulatedCluster } from './cluster.ts'
import { METADATA_OPERATIONS, METADATA_RPCS } from './operations.ts'
import { clusterOf, served } from '#tests/kits/core/emulator/small-cluster.ts'

const MDS = '{ name: mds01, threads: 8, mdts: [{ name: t-MDT0000, per_op_us: 300, op_us: { mkdir: 2000 } }] }'
const job = (id: string, op: string, more = ''): string =>
  `{ id: ${id}, clients: [1], op: ${op}, total_rpcs: 40, pattern: { kind: continuous }${more} }`

const moved = (c: EmulatedCluster, of: 'mdt' | 'readpage'): Record<string, number> =>
  Object.fromEntries(
    [...c.mds[0]![of].stats.counters].filter(([n]) => !n.startsWith('req')).map(([n, x]) => [n, x.sum]),
  )

describe('an emulated MDS', () => {
  it('takes every operation as the RPC that it is, in the service that real ones use', () => {
    const c = clusterOf(
      METADATA_OPERATIONS.map((op) => job(`j.${op}`, op)),
      { mds: MDS },
    )
    c.sim.runUntil(10e9)
    for (const op of METADATA_OPERATIONS) expect(served(c, `j.${op}`), op).toBe(40)
    const usecs = 40 * 300
    expect(moved(c, 'readpage')).toEqual({ mds_close: usecs, mds_getxattr: usecs, mds_readpage: usecs })
    // RPCs that carry an operation are counted by it, as one; all other RPCs by their time.
    expect(moved(c, 'mdt')).toEqual({
      ldlm_ibits_enqueue: 120,
      mds_reint_open: 80,
      mds_reint_setattr: 40,
      mds_reint_create: 40,
      mds_reint_unlink: 80,
      mds_reint_rename: 40,
      mds_statfs: usecs,
      mds_sync: usecs,
    })
  })

  it('counts them in md_stats and by job, creation as open and mknod', () => {
    const c = clusterOf([job('1.a', '[create, close, mkdir]')], { mds: MDS })
    c.sim.runUntil(10e9)
    const [mdt] = c.mds[0]!.mdts
    const [entry] = parseJobStats(mdt!.jobStats.read()).entries
    for (const [counter, samples, us] of [
      ['open', 14, 300],
      ['mknod', 14, 300],
      ['close', 13, 300],
      ['mkdir', 13, 2000],
    ] as const) {
      expect(entry!.counters.get(counter), counter).toMatchObject({ samples, min: us, max: us, sum: samples * us })
      expect(mdt!.stats.counters.get(counter)).toMatchObject({ samples, sum: samples * us })
    }
    expect(entry!.counters.has('unlink')).toBe(false)
  })

  it('prints the counters of its release, in its order', () => {
    const names = (version: string): string[] => {
      const mds = MDS.replace('threads: 8', `version: ${version}`)
      const c = clusterOf([job('1.a', '[rename, readdir]')], { mds, policy: 'tbf' })
      c.sim.runUntil(1e9)
      const text = c.mds[0]!.mdts[0]!.jobStats.read()
      return [...text.matchAll(/^ {2}(\w+): +\{ samples: +[1-9]/gm)].map((m) => m[1]!)
    }
    expect(names('2.17.57')).toEqual(['rename', 'samedir_rename', 'parallel_rename_file', 'readpage'])
    expect(names('2.15.8')).toEqual(['rename', 'samedir_rename'])
  })

  it('classifies by the ids and the opcode of the caller', () => {
    for (const [policy, rule, isHeld] of [
      ['tbf uid', 'start r uid={500} rate=1', true],
      ['tbf gid', 'start r gid={100} rate=1', true],
      ['tbf projid', 'start r projid={7} rate=1', true],
      ['tbf uid', 'start r uid={0} rate=1', false],
      ['tbf opcode', 'start r opcode={mds_reint} rate=1', true],
      ['tbf', 'start r uid={500}&opcode={mds_reint} rate=1', true],
      ['tbf nodemap', 'start r nodemap={default} rate=1', true],
    ] as const) {
      const c = clusterOf([job('1.a', 'unlink', ', uid: 500, gid: 100, projid: 7')], { mds: MDS, policy })
      expect(c.mds[0]!.mdt.nrs.writeRule(rule), rule).toEqual({ ok: true, value: undefined })
      c.sim.runUntil(2.5e9)
      expect(served(c, '1.a'), rule).toBe(isHeld ? 5 : 40)
    }
  })

  it('every operation has a counter that some release prints', () => {
    for (const op of METADATA_OPERATIONS) expect(METADATA_RPCS[op].counters.length, op).toBeGreaterThan(0)
  })
})
