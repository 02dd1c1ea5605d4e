/**
 * Programs in C, compiled on the machine that uses them: from a folder of resources with the machine's own `cc`, into the user's
 * cache. The file name contains a hash of the sources and flags, and the hash of the file is stored beside it: another version, a
 * partial or an altered file is rebuilt, never executed.
 */
import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import { resourcePath } from './resources.ts'
import { writeFileAtomic } from './atomic-file.ts'

const run = promisify(execFile)
const COMPILE_MS = 120_000

/** Flags of programs with threads, and of libraries that are loaded into programs. */
export const PROGRAM_FLAGS = ['-O2', '-std=gnu11', '-pthread', '-Wno-nonnull-compare']
export const LIBRARY_FLAGS = [...PROGRAM_FLAGS, '-fPIC', '-shared', '-fvisibility=hidden']

/** A program or a library, and how it is compiled. */
export interface NativeProgram {
  /** Folder of the sources under resources/, and of the result in the cache. */
  readonly folder: string
  /** Name in messages, and prefix of failure codes. */
  readonly what: string
  readonly code: string
  /** Name of the result before and after its hash. */
  readonly name: readonly [prefix: string, suffix: string]
  readonly flags: readonly string[]
  readonly libraries: readonly string[]
  /** Sources of other folders, relative to its own, beside all of that. */
  readonly more?: readonly string[]
}

export interface NativeBuild {
  /** Compiler, by default `cc`. */
  readonly cc?: string | undefined
  /** Folder of the sources; `cache` is that of the result. */
  readonly sources?: string | undefined
  readonly cache?: string | undefined
}

/**
 * The user's cache folder for a program. The dynamic linker accepts no path with a space or a colon: then a folder of the user
 * under /var/tmp.
 */
export function cacheFolder(folder: string, env: Readonly<Record<string, string | undefined>> = process.env): string {
  const usual = join(env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'sluice', folder)
  return /[\s:]/.test(usual) ? `/var/tmp/sluice-${folder}-${process.getuid?.() ?? 0}` : usual
}

const hashOf = (...parts: (string | Uint8Array)[]): string => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part).update('\0')
  return hash.digest('hex')
}

const OTHER_CACHE = 'Set XDG_CACHE_HOME to another folder.'

/** Checks that the folder is the user's and not writable for others: its contents are executed. */
function usableFolder(folder: string, { what, code }: NativeProgram): Failure | undefined {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const found = lstatSync(folder)
    if (found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o022) === 0) return undefined
    return {
      code: `${code}_CACHE`,
      what: `The folder ${folder} cannot be used for ${what}`,
      why: 'it must be owned by this user and not writable for others',
      next: OTHER_CACHE,
    }
  } catch (e) {
    const why = e instanceof Error ? e.message : String(e)
    return { code: `${code}_CACHE`, what: `The folder ${folder} cannot be made`, why, next: OTHER_CACHE }
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
 * Path of a program, built if necessary.
 *
 * @returns its path. Codes, after the program's prefix: _PLATFORM (not Linux), _SOURCES, _CACHE, _BUILD; and NO_COMPILER.
 */
export async function nativeProgram(program: NativeProgram, build: NativeBuild = {}): Promise<Result<string>> {
  const { folder, what, code, flags, more = [] } = program
  const { cc = 'cc', sources = resourcePath(folder), cache = cacheFolder(folder) } = build
  if (process.platform !== 'linux') {
    return fail({
      code: `${code}_PLATFORM`,
      what: `There is no ${what} here`,
      why: `it needs Linux, not ${process.platform}`,
    })
  }
  let names: string[]
  let hash: string
  try {
    names = [...readdirSync(sources).filter((name) => /\.[ch]$/.test(name)), ...more].sort()
    const contents = names.flatMap((name) => [name, readFileSync(join(sources, name))])
    hash = hashOf(process.arch, cc, ...flags, ...contents).slice(0, 24)
  } catch (e) {
    const why = e instanceof Error ? e.message : String(e)
    return fail({ code: `${code}_SOURCES`, what: `The sources of ${what} in ${sources} cannot be read`, why })
  }
  const unusable = usableFolder(cache, program)
  if (unusable) return fail(unusable)
  const file = join(cache, `${program.name[0]}${hash}${program.name[1]}`)
  if (built(file)) return ok(file)
  const fresh = `${file}.${randomBytes(6).toString('hex')}`
  try {
    const inputs = names.filter((name) => name.endsWith('.c'))
    await run(cc, [...flags, '-o', fresh, ...inputs, ...program.libraries], { cwd: sources, timeout: COMPILE_MS })
    writeFileAtomic(`${file}.sha256`, hashOf(readFileSync(fresh)))
    renameSync(fresh, file)
  } catch (e) {
    rmSync(fresh, { force: true })
    return fail(compileFailure(program, cc, e))
  }
  return ok(file)
}

function compileFailure({ what, code }: NativeProgram, cc: string, e: unknown): Failure {
  if (e instanceof Error && 'code' in e && e.code === 'ENOENT') {
    return {
      code: 'NO_COMPILER',
      what: `There is no C compiler called ${cc}`,
      next: 'Install gcc or clang, or name one with --cc.',
    }
  }
  const stderr = e instanceof Error && 'stderr' in e ? String(e.stderr) : ''
  const why = stderr.split('\n').find((line) => line.includes('error')) ?? (e instanceof Error ? e.message : String(e))
  return { code: `${code}_BUILD`, what: `${what} could not be compiled`, why: why.slice(0, 500) }
}
