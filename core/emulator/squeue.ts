/** `squeue` of the emulated resource manager. */
import type { Program } from './exec.ts'
import type { JobScenario } from './scenario.ts'

/** Fields of `-o` that it knows. */
const FIELDS = {
  A: (j) => j.id.split('.')[0] ?? j.id,
  D: (j) => String(new Set(j.clients).size),
  u: (j) => j.user,
  a: (j) => j.account,
  j: (j) => j.id.split('.').slice(1, -1).join('.') || j.id,
  T: () => 'RUNNING',
} satisfies Record<string, (j: JobScenario) => string>

const isField = (f: string): f is keyof typeof FIELDS => Object.hasOwn(FIELDS, f)

/**
 * The program: jobs in the queue now, one line each in the format of `-o`, without a head line under `-h`.
 *
 * @param queued  the jobs in the queue at the instant of the call.
 */
export function squeue(queued: () => readonly JobScenario[]): Program {
  return (args) => {
    const at = args.findIndex((a) => a === '-o' || a === '--format')
    const format = at < 0 ? '%A %u %a %D %T' : (args[at + 1] ?? '')
    const line = (of: (field: string) => string): string => format.replace(/%([A-Za-z])/g, (_, f: string) => of(f))
    const head = args.includes('-h') ? [] : [line((f) => f)]
    const rows = queued().map((j) => line((f) => (isField(f) ? FIELDS[f](j) : '')))
    return { stdout: [...head, ...rows].map((l) => `${l}\n`).join(''), stderr: '', code: 0 }
  }
}
