/**
 * POSIX door of ccPFS: the preload library (resources/door), built on the machine that uses it, and the environment that loads it
 * into a program. Validated here, because the library itself reports no errors of its configuration.
 */
import { readdirSync } from 'node:fs'
import { isAbsolute, posix } from 'node:path'
import { fail, ok, type Result } from '#core/base/result.ts'
import { cacheFolder, LIBRARY_FLAGS, nativeLibrary } from '../files/native-library.ts'
import { resourcePath } from '../files/resources.ts'
import { SOCKET_PATH_MAX } from '../wire/private-socket.ts'

/** Sources shared with the stage library, relative to the folder of the door. */
const SHARED = ['../stage/real.c', '../stage/real.h']

export interface DoorBuild {
  /** Compiler, by default `cc`. */
  readonly cc?: string
  /** Folder of the result. */
  readonly cache?: string
  /** Adds checks of memory and arithmetic, for tests: slower, and libasan must be loaded first. */
  readonly isSanitized?: boolean
}

const SANITIZERS = ['-g', '-fsanitize=address,undefined', '-fno-sanitize-recover=undefined', '-fno-omit-frame-pointer']

/**
 * Path of the door library, built if necessary.
 *
 * @returns its path. Codes: DOOR_PLATFORM (not Linux), DOOR_SOURCES, DOOR_CACHE, NO_COMPILER, DOOR_BUILD.
 */
export function doorLibrary({ cc = 'cc', cache = cacheFolder(), isSanitized = false }: DoorBuild = {}): Promise<
  Result<string>
> {
  const folder = resourcePath('door')
  return nativeLibrary({
    title: 'the door library of ccPFS',
    code: 'DOOR',
    output: 'libsluice-ccpfs-#.so',
    folder,
    sources: () => [...readdirSync(folder).filter((name) => /\.[ch]$/.test(name)), ...SHARED].sort(),
    flags: [...LIBRARY_FLAGS, ...(isSanitized ? SANITIZERS : [])],
    cc,
    cache,
  })
}

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
