/**
 * POSIX door of ccPFS: the preload library (resources/door), built on the machine that uses it, and the environment that loads it
 * into a program. Validated here, because the library itself reports no errors of its configuration.
 */
import { isAbsolute, posix } from 'node:path'
import { fail, ok, type Result } from '#core/base/result.ts'
import { LIBRARY_FLAGS, nativeProgram, type NativeBuild } from '../files/native-build.ts'
import { SOCKET_PATH_MAX } from '../wire/private-socket.ts'

/** Sources shared with the stage library, relative to the folder of the door. */
const SHARED = ['../stage/real.c', '../stage/real.h']
const SANITIZERS = ['-g', '-fsanitize=address,undefined', '-fno-sanitize-recover=undefined', '-fno-omit-frame-pointer']

export interface DoorBuild extends NativeBuild {
  /** Adds checks of memory and arithmetic, for tests: slower, and libasan must be loaded first. */
  readonly isSanitized?: boolean
}

/** Path of the door library. Codes: those of `nativeProgram` with the prefix DOOR. */
export const doorLibrary = ({ isSanitized = false, ...build }: DoorBuild = {}): Promise<Result<string>> =>
  nativeProgram(
    {
      folder: 'door',
      what: 'the door library of ccPFS',
      code: 'DOOR',
      name: ['libsluice-ccpfs-', '.so'],
      flags: [...LIBRARY_FLAGS, ...(isSanitized ? SANITIZERS : [])],
      libraries: ['-ldl'],
      more: SHARED,
    },
    build,
  )

export interface DoorSettings {
  readonly library: string
  /** Prefix of the paths that belong to ccPFS: absolute, not the root. It need not exist. */
  readonly mount: string
  /** Socket of the client daemon. */
  readonly socket: string
  /** Locks by fcntl: refused (the default), or kept among the processes of this node. */
  readonly locks?: 'refused' | 'local'
  /** Longest wait for an answer of the daemon, ms; then the call fails with EIO. */
  readonly timeoutMs?: number
}

/** Limits of the library (resources/door). */
const MOUNT_MAX = 1024
const TIMEOUT_MAX_MS = 3_600_000

/**
 * Environment variables for a program and its children.
 *
 * @returns Codes: DOOR_MOUNT, DOOR_SOCKET, DOOR_TIMEOUT, DOOR_PRELOAD.
 */
export function doorEnvironment(
  { library, mount, socket, locks = 'refused', timeoutMs = 60_000 }: DoorSettings,
  preload: string | undefined = process.env.LD_PRELOAD,
): Result<Record<string, string>> {
  const isNormal = isAbsolute(mount) && posix.normalize(mount) === mount && !/[\n\0]/.test(mount)
  if (!isNormal || mount.endsWith('/') || Buffer.byteLength(mount) > MOUNT_MAX) {
    return fail({
      code: 'DOOR_MOUNT',
      what: `${mount} cannot be a mount of ccPFS`,
      why: `an absolute path without . and .. and with at most ${MOUNT_MAX} bytes is needed, and not the root`,
    })
  }
  if (!isAbsolute(socket) || Buffer.byteLength(socket) > SOCKET_PATH_MAX || socket.includes('\0')) {
    const why = `an absolute path of at most ${SOCKET_PATH_MAX} bytes is needed`
    return fail({ code: 'DOOR_SOCKET', what: 'This socket cannot be used', why })
  }
  if (!Number.isInteger(timeoutMs) || timeoutMs < 1 || timeoutMs > TIMEOUT_MAX_MS) {
    const why = `1 to ${TIMEOUT_MAX_MS} ms are possible`
    return fail({ code: 'DOOR_TIMEOUT', what: 'This timeout cannot be used', why })
  }
  // The dynamic linker splits at spaces and colons, without quoting.
  if (/[\s:]/.test(library)) {
    const why = 'its path has a space or a colon in it'
    return fail({ code: 'DOOR_PRELOAD', what: `${library} cannot be preloaded`, why })
  }
  return ok({
    // First: the door's files must not reach another library, such as a stage.
    LD_PRELOAD: [library, ...(preload ? [preload] : [])].join(' '),
    SLUICE_CCPFS_MOUNT: mount,
    SLUICE_CCPFS_SOCKET: socket,
    SLUICE_CCPFS_LOCKS: locks,
    SLUICE_CCPFS_TIMEOUT_MS: String(timeoutMs),
  })
}
