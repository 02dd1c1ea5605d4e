/**
 * Stage library, compiled on the machine that uses it: from resources/stage with its own `cc`, into the user's cache. The file
 * name contains a hash of the sources and flags, and the hash of the file is stored beside it: another version, a partial or an
 * altered file is rebuilt, never loaded into a program.
 */
import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import { resourcePath } from '../files/resources.ts'
import { writeFileAtomic } from '../files/atomic-file.ts'

const run = promisify(execFile)
const COMPILE_MS = 120_000
const COMMON = ['-O2', '-std=gnu11', '-pthread', '-Wno-nonnull-compare']
const FLAGS = {
  library: [...COMMON, '-fPIC', '-shared', '-fvisibility=hidden'],
  bench: [...COMMON, '-I.'],
} as const

/** Targets of the build: the library, or the benchmark, which includes the same sources. */
export type StagePart = keyof typeof FLAGS

export interface StageBuild {
  readonly part?: StagePart
  /** Compiler, by default `cc`. */
  readonly cc?: string
  /** Folder of the sources; `cache` is that of the result. */
  readonly sources?: string
  readonly cache?: string
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

/** Checks that the folder is the user's and not writable for others: its contents are loaded into programs. */
function usableFolder(folder: string): Failure | undefined {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const found = lstatSync(folder)
    if (found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o022) === 0) return undefined
    return {
      code: 'STAGE_CACHE',
      what: `The folder ${folder} cannot be used for the stage library`,
      why: 'it must be owned by this user and not writable for others',
      next: OTHER_CACHE,
    }
  } catch (e) {
    const why = e instanceof Error ? e.message : String(e)
    return { code: 'STAGE_CACHE', what: `The folder ${folder} cannot be made`, why, next: OTHER_CACHE }
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

function sourcesIn(folder: string, part: StagePart): string[] {
  const files = readdirSync(folder).filter((name) => /\.[ch]$/.test(name))
  return (part === 'bench' ? [...files, 'bench/bench.c'] : files).sort()
}

/**
 * Path of the stage library (or benchmark), built if necessary.
 *
 * @returns its path. Codes: STAGE_PLATFORM (not Linux), STAGE_SOURCES, STAGE_CACHE, NO_COMPILER, STAGE_BUILD.
 */
export async function stageLibrary(build: StageBuild = {}): Promise<Result<string>> {
  const { part = 'library', cc = 'cc', sources = resourcePath('stage'), cache = cacheFolder() } = build
  if (process.platform !== 'linux') {
    return fail({ code: 'STAGE_PLATFORM', what: 'Stages run on Linux only', why: `this is ${process.platform}` })
  }
  let names: string[]
  let hash: string
  try {
    names = sourcesIn(sources, part)
    const contents = names.flatMap((name) => [name, readFileSync(join(sources, name))])
    hash = hashOf(process.arch, cc, ...FLAGS[part], ...contents).slice(0, 24)
  } catch (e) {
    const why = e instanceof Error ? e.message : String(e)
    return fail({ code: 'STAGE_SOURCES', what: `The stage's sources in ${sources} cannot be read`, why })
  }
  const unusable = usableFolder(cache)
  if (unusable) return fail(unusable)
  const file = join(cache, part === 'library' ? `libsluice-stage-${hash}.so` : `stage-bench-${hash}`)
  if (built(file)) return ok(file)
  const fresh = `${file}.${randomBytes(6).toString('hex')}`
  try {
    const inputs = names.filter((name) => name.endsWith('.c'))
    await run(cc, [...FLAGS[part], '-o', fresh, ...inputs, '-ldl'], { cwd: sources, timeout: COMPILE_MS })
    writeFileAtomic(`${file}.sha256`, hashOf(readFileSync(fresh)))
    renameSync(fresh, file)
  } catch (e) {
    rmSync(fresh, { force: true })
    return fail(compileFailure(cc, e))
  }
  return ok(file)
}

function compileFailure(cc: string, e: unknown): Failure {
  if (e instanceof Error && 'code' in e && e.code === 'ENOENT') {
    return {
      code: 'NO_COMPILER',
      what: `There is no C compiler called ${cc}`,
      next: 'Install gcc or clang, or name one with --cc.',
    }
  }
  const stderr = e instanceof Error && 'stderr' in e ? String(e.stderr) : ''
  const why = stderr.split('\n').find((line) => line.includes('error')) ?? (e instanceof Error ? e.message : String(e))
  return { code: 'STAGE_BUILD', what: 'The stage library could not be compiled', why: why.slice(0, 500) }
}
