/**
 * Shared libraries in C, compiled on the machine that uses them: from resources with its own `cc`, into the user's cache. The file
 * name contains a hash of the sources and flags, and the hash of the file is stored beside it: another version, a partial or an
 * altered file is rebuilt, never loaded into a program.
 */
import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { lstatSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import { writeFileAtomic } from './atomic-file.ts'

const run = promisify(execFile)
const COMPILE_MS = 120_000
/** Flags of every build. */
const COMMON = ['-O2', '-std=gnu11', '-pthread', '-Wno-nonnull-compare']
export const LIBRARY_FLAGS = ['-fPIC', '-shared', '-fvisibility=hidden']

export interface NativeBuild {
  /** Name of the result for people, as in "the stage library", and prefix of the error codes, as STAGE. */
  readonly title: string
  readonly code: string
  /** Name of the file in the cache, with `#` for the hash. */
  readonly output: string
  /** Folder in which the compiler runs, and the sources relative to it, headers included. */
  readonly folder: string
  readonly sources: () => readonly string[]
  readonly flags: readonly string[]
  /** Compiler. */
  readonly cc: string
  /** Folder of the result. */
  readonly cache: string
}

/**
 * The user's cache folder. The dynamic linker accepts no path with a space or a colon: then a folder of the user under /var/tmp.
 */
export function cacheFolder(env: Readonly<Record<string, string | undefined>> = process.env): string {
  const usual = join(env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'sluice', 'stage')
  return /[\s:]/.test(usual) ? `/var/tmp/sluice-stage-${process.getuid?.() ?? 0}` : usual
}

const hashOf = (...parts: (string | Uint8Array)[]): string => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part).update('\0')
  return hash.digest('hex')
}

const OTHER_CACHE = 'Set XDG_CACHE_HOME to another folder.'
const reasonOf = (e: unknown): string => (e instanceof Error ? e.message : String(e))

/** Checks that the folder is the user's and not writable for others: its contents are loaded into programs. */
function usableFolder({ cache, title, code }: NativeBuild): Failure | undefined {
  try {
    mkdirSync(cache, { recursive: true, mode: 0o700 })
    const found = lstatSync(cache)
    if (found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o022) === 0) return undefined
    return {
      code: `${code}_CACHE`,
      what: `The folder ${cache} cannot be used for ${title}`,
      why: 'it must be owned by this user and not writable for others',
      next: OTHER_CACHE,
    }
  } catch (e) {
    return { code: `${code}_CACHE`, what: `The folder ${cache} cannot be made`, why: reasonOf(e), next: OTHER_CACHE }
  }
}

/** True if the finished file exists and is unaltered. */
function built(file: string): boolean {
  try {
    return readFileSync(`${file}.sha256`, 'utf8') === hashOf(readFileSync(file))
  } catch {
    return false
  }
}

/**
 * Path of the library (or program), built if necessary.
 *
 * @returns its path. Codes, with the prefix of the build: _PLATFORM (not Linux), _SOURCES, _CACHE, _BUILD; and NO_COMPILER.
 */
export async function nativeLibrary(build: NativeBuild): Promise<Result<string>> {
  const { title, code, folder, cc, flags } = build
  if (process.platform !== 'linux') {
    return fail({
      code: `${code}_PLATFORM`,
      what: `${sentence(title)} runs on Linux only`,
      why: `this is ${process.platform}`,
    })
  }
  let names: readonly string[]
  let hash: string
  try {
    names = build.sources()
    const contents = names.flatMap((name) => [name, readFileSync(join(folder, name))])
    hash = hashOf(process.arch, cc, ...COMMON, ...flags, ...contents).slice(0, 24)
  } catch (e) {
    return fail({
      code: `${code}_SOURCES`,
      what: `The sources of ${title} in ${folder} cannot be read`,
      why: reasonOf(e),
    })
  }
  const unusable = usableFolder(build)
  if (unusable) return fail(unusable)
  const file = join(build.cache, build.output.replace('#', hash))
  if (built(file)) return ok(file)
  const fresh = `${file}.${randomBytes(6).toString('hex')}`
  try {
    const inputs = names.filter((name) => name.endsWith('.c'))
    await run(cc, [...COMMON, ...flags, '-o', fresh, ...inputs, '-ldl'], { cwd: folder, timeout: COMPILE_MS })
    writeFileAtomic(`${file}.sha256`, hashOf(readFileSync(fresh)))
    renameSync(fresh, file)
  } catch (e) {
    rmSync(fresh, { force: true })
    return fail(compileFailure(build, e))
  }
  return ok(file)
}

const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

function compileFailure({ title, code, cc }: NativeBuild, e: unknown): Failure {
  if (e instanceof Error && 'code' in e && e.code === 'ENOENT') {
    return {
      code: 'NO_COMPILER',
      what: `There is no C compiler called ${cc}`,
      next: 'Install gcc or clang, or name one with --cc.',
    }
  }
  const stderr = e instanceof Error && 'stderr' in e ? String(e.stderr) : ''
  const why = stderr.split('\n').find((line) => line.includes('error')) ?? reasonOf(e)
  return { code: `${code}_BUILD`, what: `${sentence(title)} could not be compiled`, why: why.slice(0, 500) }
}
