/** Environment that loads the stage into a program. Validated here, because the library itself cannot report errors. */
import { isAbsolute } from 'node:path'
import { userInfo } from 'node:os'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import { TEXT_BYTES } from '#core/padll/wire/parts.ts'
import { SOCKET_PATH_MAX } from '#electron/wire/private-socket.ts'

export interface StageSettings {
  readonly library: string
  readonly job: string
  /** Managed mount points, absolute paths. */
  readonly mounts: readonly string[]
  /** Socket of the local controller. */
  readonly socket: string
  readonly instance?: number
  readonly workflows?: number
  /** Longest wait of the first managed call for the controller, ms. */
  readonly startWaitMs?: number
  /** Refuse io_uring, whose submissions no stage can limit, to the program and its children. */
  readonly isIoUringRefused?: boolean
  /** Folder for the counters of each process, written when it ends. */
  readonly report?: string
}

/** Limits of the library (resources/stage/stage.h) and of the system. */
const MOUNTS_MAX = 16
const WORKFLOWS_MAX = 1024
const PATH_MAX = 4095

const bytes = (text: string): number => Buffer.byteLength(text)
const refused = (code: string, what: string, why: string): Result<never, Failure> => fail({ code, what, why })

/** One line per mount: a newline would split it. */
const isMount = (path: string): boolean => isAbsolute(path) && bytes(path) <= PATH_MAX && !/[\n\0]/.test(path)

/**
 * Environment variables for a program and its children.
 *
 * @returns Codes: STAGE_JOB, STAGE_MOUNT, STAGE_SOCKET, STAGE_NUMBER, STAGE_PRELOAD.
 */
export function stageEnvironment(
  settings: StageSettings,
  preload: string | undefined = process.env.LD_PRELOAD,
): Result<Record<string, string>> {
  const { library, job, mounts, socket, instance = 0, workflows = 1, startWaitMs = 50 } = settings
  const { isIoUringRefused = false, report } = settings
  if (job === '' || job.includes('\0') || bytes(job) > TEXT_BYTES.job) {
    return refused('STAGE_JOB', 'This job id cannot be used', `it must have 1 to ${TEXT_BYTES.job} bytes and no NUL`)
  }
  if (mounts.length === 0 || mounts.length > MOUNTS_MAX || !mounts.every(isMount)) {
    return refused(
      'STAGE_MOUNT',
      'These mount points cannot be managed',
      `1 to ${MOUNTS_MAX} absolute paths are needed`,
    )
  }
  if (!isAbsolute(socket) || bytes(socket) > SOCKET_PATH_MAX || socket.includes('\0')) {
    return refused('STAGE_SOCKET', 'This socket cannot be used', `an absolute path of at most ${SOCKET_PATH_MAX} bytes`)
  }
  const integer = (n: number, least: number, most: number): boolean => Number.isInteger(n) && n >= least && n <= most
  if (!integer(instance, 0, 0xffffffff) || !integer(workflows, 1, WORKFLOWS_MAX) || !integer(startWaitMs, 0, 10_000)) {
    return refused('STAGE_NUMBER', 'A number is out of its range', `at most ${WORKFLOWS_MAX} workflows, 10000 ms`)
  }
  // The dynamic linker splits at spaces and colons, without quoting.
  if (/[\s:]/.test(library)) {
    return refused('STAGE_PRELOAD', `${library} cannot be preloaded`, 'its path has a space or a colon in it')
  }
  return ok({
    LD_PRELOAD: [library, ...(preload ? [preload] : [])].join(' '),
    SLUICE_STAGE_JOB: job,
    SLUICE_STAGE_MOUNTS: mounts.join('\n'),
    SLUICE_STAGE_SOCKET: socket,
    SLUICE_STAGE_USER: userInfo().username,
    SLUICE_STAGE_INSTANCE: String(instance),
    SLUICE_STAGE_WORKFLOWS: String(workflows),
    SLUICE_STAGE_START_MS: String(startWaitMs),
    ...(isIoUringRefused ? { SLUICE_STAGE_IO_URING: 'refuse' } : {}),
    ...(report === undefined ? {} : { SLUICE_STAGE_REPORT: report }),
  })
}
