/** Records many jobs, all active for a while: shows a large cluster in the window without the load of one. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { RuleLine } from '#core/lustre/nrs-tbf-rule.ts'
import { History } from '#electron/history/history.ts'

export const RECORDING = 'many-jobs'
const SECONDS = 130
const SERVERS = 12
const RULES = 200
const EXES = ['lmp', 'python', 'vasp_std', 'h5perf', 'openfoam-simpleFoam-mpi', 'ior']

const rulesOf = (server: number): RuleLine[] =>
  Array.from({ length: RULES }, (_, i) => ({
    queue: 'reg',
    cpt: 0,
    name: `ab_${i}`,
    ref: i % 5,
    conditions: `jobid={${40_000 + i}.${EXES[i % EXES.length]}.u${i}}`,
    rate: 100 + ((i * 7 + server) % 900),
  }))

/** Writes the recording beside the history of `folder`, where the History view finds it. */
export async function recordMany(folder: string, jobs: number, fromMs: number): Promise<void> {
  const opened = History.open(join(folder, 'many.sqlite'), fromMs)
  if (!opened.ok) throw new Error(opened.error.what)
  const history = opened.value
  history.beginSource('EMULATED', 'many', '', fromMs)
  const targets = Array.from({ length: SERVERS * 4 }, (_, i) => ({
    target: `many-OST${i.toString(16).padStart(4, '0')}`,
    node: `oss${String(1 + (i >> 2)).padStart(2, '0')}`,
  }))
  const ids = Array.from({ length: jobs }, (_, i) => `${40_000 + i}.${EXES[i % EXES.length]}.u${i % 900}`)
  for (let s = 0; s < SECONDS; s++) {
    const atMs = fromMs + s * 1000
    if (s % 60 === 0) {
      for (let k = 0; k < SERVERS; k++) history.recordRules(atMs, `oss${String(k + 1).padStart(2, '0')}`, rulesOf(k))
    }
    const rows = ids.map((jobId, i) => {
      const rpcs = 1 + ((i * 37 + s * (i % 13)) % 500) + (i % 997 === 0 ? 20_000 : 0)
      return {
        jobId,
        rpcs,
        readBps: rpcs * 4096,
        writeBps: rpcs * 65_536,
        throttled: i % 5 ? 0 : 1,
        mdops: i % 7,
        record: (i % 2 === 0 ? 1 : -1) * (i >> 1),
      }
    })
    history.record(
      atMs,
      rows,
      targets.map((t, i) => ({ ...t, rpcs: 100 + i, serviceMs: 5 + (i % 7), queued: i })),
      (jobId) => ({ jobId, user: `u${jobId.slice(-3)}`, account: `account-${jobId.slice(-2)}`, nodes: 4 }),
      {
        rpcs: 2_500_000,
        readBps: 1e10,
        writeBps: 1e11,
        serviceMs: 5,
        queued: 100,
        rules: RULES,
        onLoan: 10,
        mdops: 100,
      },
    )
  }
  history.flush()
  const { recordings } = history
  if (recordings === undefined) throw new Error('this history keeps no recordings')
  mkdirSync(recordings.folder, { recursive: true })
  const path = recordings.pathOf(RECORDING)
  if (!path.ok) throw new Error(path.error.what)
  const written = await history.writeRecording({ fromMs, toMs: fromMs + SECONDS * 1000 }, path.value)
  if (!written.ok) throw new Error(written.error.what)
  history.close()
}
