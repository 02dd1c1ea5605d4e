/** Job id of a process as a Lustre client makes it; tests format ids with it. */
import { JOB_ID_MAX } from '#core/lustre/job-id.ts'
import type { JobName, NameCode, NameField } from '#core/lustre/job-name.ts'
import type { ByteText } from '#core/lustre/text.ts'

/** Properties of a process with I/O, as a client knows them. */
export interface ClientProcess {
  /** Command name in the kernel: at most 15 bytes, without a path. */
  readonly executable: ByteText
  readonly uid: number
  readonly gid: number
  readonly pid: number
  /** Name of the client, with or without its domain. */
  readonly host: string
  /** Value of the variable or session that `jobid_var` names; undefined without one. */
  readonly job: ByteText | undefined
}

/** Kernel threads that do I/O on behalf of others; their environment belongs to no job. */
const KERNEL_THREADS = [
  'ptlrpc',
  'ldlm',
  'kworker',
  'll_ping',
  'll_sa',
  'kswapd',
  'irq',
  'ksoftirq',
  'writeback',
  'll_ucp',
]

/** True for kernel threads, which get no scheduler's id. */
export const isKernelThread = (executable: ByteText): boolean =>
  KERNEL_THREADS.some((name) => executable.startsWith(name))

/** `kworker/0:0` and similar names are one kind of thread. */
const commandOf = (executable: ByteText): ByteText => (executable.startsWith('kworker/') ? 'kworker' : executable)

const VALUES: Readonly<Record<NameCode, (p: ClientProcess) => ByteText>> = {
  e: (p) => commandOf(p.executable),
  g: (p) => String(p.gid),
  h: (p) => p.host,
  H: (p) => p.host.split('.', 1)[0] as string,
  j: (p) => (isKernelThread(p.executable) ? '' : (p.job ?? '')),
  p: (p) => String(p.pid),
  u: (p) => String(p.uid),
}

function valueOf(field: NameField, process: ClientProcess): ByteText {
  const value = VALUES[field.code](process).slice(0, field.width)
  return value === '' && field.otherwise ? valueOf(field.otherwise, process) : value
}

/**
 * Job id of a process.
 *
 * Source: spec/lustre 4.5. An empty id is possible; servers create no entry for it.
 *
 * @returns  at most 31 bytes; longer ids are truncated.
 */
export const expandJobId = (name: JobName, process: ClientProcess): ByteText =>
  name
    .map((part) => (typeof part === 'string' ? part : valueOf(part, process)))
    .join('')
    .slice(0, JOB_ID_MAX)
