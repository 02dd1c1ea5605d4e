/**
 * The `ccpfs` section of a scenario: a file system with its own lock manager beside Lustre, its files, the jobs that use them,
 * and clients that stop answering.
 *
 * Job ids and file names are bytes chosen by any user: bounded here, and treated as data everywhere after.
 */
import * as z from 'zod'
import { JOB_ID_MAX } from '../lustre/job-id.ts'
import { hostName, positive, positiveInteger } from './scenario-servers.ts'

export const LOCK_MANAGERS = ['seqdlm', 'datatype', 'lustre', 'basic'] as const
export type LockManagerName = (typeof LOCK_MANAGERS)[number]

const KIB = 1024
const MIB = 1024 * KIB
/** Limits: stripes of all files together, processes of all workloads. */
const MOST = { stripes: 4096, processes: 4096 } as const
/** Largest operation, bytes: it may touch many small stripes, each with its own lock. */
const OPERATION_MAX = 64 * MIB
/** Largest file, MiB: its end is below 2^53 bytes, up to which offsets are exact in a double. */
const FILE_MIB_MAX = 2 ** 33 - 1

const seconds = z.number().nonnegative().max(1e6)
const mebibytes = z.number().nonnegative().max(FILE_MIB_MAX)

const fileName = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[\u0001-\u002e\u0030-\u00ff]*$/, 'a file name is bytes: characters up to U+00FF without /')

const file = z.strictObject({
  name: fileName,
  stripes: positiveInteger.max(256).default(1),
  stripe_kib: positiveInteger.multipleOf(4).max(1_048_576).default(1024),
  size_mib: positive
    .min(0.0625)
    .max(FILE_MIB_MAX)
    .default(64)
    .describe('file size; reads and writes stay within it, appends may exceed it'),
})

/** strided, segmented: all processes in one file. append: PW at its end. spanning: across a stripe boundary, BW. */
export const CCPFS_PATTERNS = ['strided', 'segmented', 'append', 'random', 'read', 'spanning'] as const

const pace = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('continuous'),
    think_ms: z.number().nonnegative().max(1e9).default(10).describe('mean time between operations, exponential'),
  }),
  z.strictObject({
    kind: z.literal('bursts'),
    operations: positiveInteger.max(1e6).describe('operations of each process in one burst'),
    every_s: positive.min(0.001).max(1e6),
    fsync: z.boolean().default(false).describe('each process flushes its client’s data at the end of a burst'),
  }),
])

const workload = z.strictObject({
  job: z
    .string()
    .min(1)
    .max(JOB_ID_MAX)
    .regex(/^[\u0001-\u00ff]*$/, 'a job id is bytes: characters up to U+00FF'),
  user: z.string().max(64).default(''),
  file: z.string(),
  clients: z.array(positiveInteger).min(1).max(1024),
  processes: positiveInteger.max(MOST.processes).optional().describe('spread over the clients (default: one each)'),
  readers: z
    .number()
    .int()
    .nonnegative()
    .max(MOST.processes)
    .default(0)
    .describe('number of processes, the last ones, that read what the others write'),
  pattern: z.enum(CCPFS_PATTERNS),
  size_bytes: positiveInteger.max(OPERATION_MAX).describe('size of one write or read'),
  offset_mib: mebibytes.default(0).describe('start of its part of the file'),
  span_mib: positive.max(FILE_MIB_MAX).optional().describe('length of its part (default: to the end of the file)'),
  pace: pace.default({ kind: 'continuous', think_ms: 10 }),
  start_s: seconds.default(0),
  stop_s: seconds.optional(),
})

const lasting = {
  at_s: seconds,
  /** Time until it answers again; default: never. */
  for_s: positive.max(1e6).optional(),
}

const fault = z.discriminatedUnion('what', [
  z.strictObject({ what: z.literal('client-silent'), client: positiveInteger, ...lasting }),
  z
    .strictObject({ what: z.literal('server-silent'), server: hostName, ...lasting })
    .describe('the lock service of a server processes no message; data still reach its device'),
])

const megabytes = positive.min(0.1).max(1e9)
const microseconds = z.number().nonnegative().max(1e6)

export const ccpfs = z
  .strictObject({
    manager: z.enum(LOCK_MANAGERS).default('seqdlm'),
    options: z
      .strictObject({
        early_grant: z.boolean().optional(),
        early_revocation: z.boolean().optional(),
        conversion: z.boolean().optional().describe('upgrading and downgrading of locks'),
        expansion: z.boolean().optional().describe('ranges expand into free space'),
      })
      .default({})
      .describe('parts of the manager to switch on or off (default: as the manager has them)'),
    servers: z
      .array(hostName)
      .min(1)
      .max(64)
      .describe('each has a lock service and a device; stripes are placed round robin'),
    costs: z
      .strictObject({
        device_mb_s: megabytes.optional().describe('bandwidth of the device of one server'),
        network_mb_s: megabytes.optional().describe('bandwidth of one port'),
        rtt_us: microseconds.optional().describe('round trip of a lock message'),
        io_us: microseconds.optional().describe('server time of a flush or read'),
      })
      .default({})
      .describe('deviations from the published cluster'),
    revocation_timeout_s: positive
      .min(0.05)
      .max(1e6)
      .default(100)
      .describe('time to release a revoked lock, after which the client is evicted'),
    files: z.array(file).min(1).max(256),
    workloads: z.array(workload).min(1).max(256),
    faults: z.array(fault).max(100).default([]),
  })
  .describe('shared files under a distributed lock manager')

export type CcpfsScenario = z.infer<typeof ccpfs>
export type CcpfsFile = z.infer<typeof file>
export type CcpfsWorkload = z.infer<typeof workload>
export type CcpfsPattern = CcpfsWorkload['pattern']

/** Byte range of a file that operations stay within. */
export interface FilePart {
  readonly start: number
  readonly length: number
}

export const processesOf = ({ processes, clients }: CcpfsWorkload): number => processes ?? clients.length
/** Number of writers, at least 1: divisor for the parts of the file. */
export const writersOf = (w: CcpfsWorkload): number => Math.max(1, processesOf(w) - w.readers)

/** Part of the file that a workload uses, whole bytes. */
export function partOf({ offset_mib, span_mib }: CcpfsWorkload, { size_mib }: CcpfsFile): FilePart {
  const start = Math.floor(offset_mib * MIB)
  const length = Math.floor((span_mib ?? size_mib - offset_mib) * MIB)
  return { start, length }
}

type Path = (string | number)[]
type Issue = (path: Path, message: string) => void

/** Rest of the scenario that the section is checked against. */
interface ScenarioContext {
  readonly ccpfs?: CcpfsScenario | undefined
  readonly clients: { readonly count: number }
  readonly jobs: readonly { readonly id: string; readonly clients: readonly number[] }[]
}

/** Checks that the files and clients exist and that operations fit their part of the file. */
export function checkCcpfs({ ccpfs: section, clients, jobs }: ScenarioContext, issue: Issue): void {
  if (!section) return
  const { files, servers, workloads, faults } = section
  unique(servers, 'server', (i) => ['ccpfs', 'servers', i], issue)
  unique(
    files.map((f) => f.name),
    'file',
    (i) => ['ccpfs', 'files', i, 'name'],
    issue,
  )
  const stripes = files.reduce((sum, f) => sum + f.stripes, 0)
  if (stripes > MOST.stripes)
    issue(['ccpfs', 'files'], `all files together have ${stripes} stripes, at most ${MOST.stripes} are allowed`)
  const processes = workloads.reduce((sum, w) => sum + processesOf(w), 0)
  if (processes > MOST.processes) {
    issue(
      ['ccpfs', 'workloads'],
      `all workloads together have ${processes} processes, at most ${MOST.processes} are allowed`,
    )
  }
  workloads.forEach((w, i) => {
    const path = ['ccpfs', 'workloads', i]
    checkClients(w, clients.count, jobs, path, issue)
    if (w.stop_s !== undefined && w.stop_s <= w.start_s) issue([...path, 'stop_s'], 'must be after start_s')
    const used = files.find((f) => f.name === w.file)
    if (used) checkPart(w, used, path, issue)
    else issue([...path, 'file'], 'no file of this section has this name')
  })
  faults.forEach((f, i) => {
    if (f.what === 'server-silent') {
      if (!servers.includes(f.server))
        issue(['ccpfs', 'faults', i, 'server'], 'no server of this section has this name')
      return
    }
    const { client } = f
    if (client > clients.count) issue(['ccpfs', 'faults', i, 'client'], `there are only ${clients.count} clients`)
    else if (!workloads.some((w) => w.clients.includes(client))) {
      issue(['ccpfs', 'faults', i, 'client'], 'no workload runs on this client')
    }
  })
}

function unique(names: readonly string[], what: string, pathOf: (i: number) => Path, issue: Issue): void {
  names.forEach((name, i) => {
    if (names.indexOf(name) !== i) issue(pathOf(i), `another ${what} has this name`)
  })
}

function checkClients(w: CcpfsWorkload, count: number, jobs: ScenarioContext['jobs'], path: Path, issue: Issue): void {
  const job = jobs.find((j) => j.id === w.job)
  w.clients.forEach((c, k) => {
    const at = [...path, 'clients', k]
    if (c > count) issue(at, `there are only ${count} clients`)
    else if (w.clients.indexOf(c) !== k) issue(at, 'the client is listed twice')
    else if (job && !job.clients.includes(c)) issue(at, `the job does not run on client ${c}`)
  })
  const processes = processesOf(w)
  if (w.readers > processes) issue([...path, 'readers'], `more than the ${processes} processes of the workload`)
  if (w.readers > 0 && w.pattern === 'read') issue([...path, 'readers'], 'every process of this pattern reads')
  if (processes < w.clients.length) issue([...path, 'processes'], 'every client needs a process')
}

/** Checks that operations fit the part of the file, and the part the file. */
function checkPart(w: CcpfsWorkload, used: CcpfsFile, path: Path, issue: Issue): void {
  if (w.pattern === 'append' && w.readers === 0) return
  const { start, length } = partOf(w, used)
  const end = Math.floor(used.size_mib * MIB)
  if (start >= end) issue([...path, 'offset_mib'], `lies beyond the ${used.size_mib} MiB of the file`)
  else if (start + length > end) issue([...path, 'span_mib'], `ends beyond the ${used.size_mib} MiB of the file`)
  else if (w.size_bytes > length) issue([...path, 'size_bytes'], `more than the ${length} bytes of its part`)
  else if (w.pattern === 'segmented' && Math.floor(length / writersOf(w)) < w.size_bytes) {
    const segmentBytes = Math.floor(length / writersOf(w))
    issue([...path, 'size_bytes'], `segments would overlap: each of ${writersOf(w)} writers has ${segmentBytes} bytes`)
  } else if (w.pattern === 'spanning') {
    const stripe = used.stripe_kib * KIB
    if (used.stripes < 2) issue([...path, 'pattern'], 'the file has one stripe, so there is no stripe boundary to span')
    else if (w.size_bytes < 2) issue([...path, 'size_bytes'], 'one byte cannot span a stripe boundary')
    else if (length < stripe + w.size_bytes)
      issue([...path, 'span_mib'], `needs a stripe and a write: ${stripe + w.size_bytes} bytes`)
  }
}
