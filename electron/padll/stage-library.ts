/**
 * The stage library, compiled where it is used: out of resources/stage with the machine's own `cc`, into the user's cache. The
 * file is named by the hash of its sources and how they are compiled, and its own hash stands beside it: another
 * version, a half written or an altered file is built anew, never loaded into somebody's program.
 */
import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import { resourcePath } from '../files/resources.ts'
import { writeWhole } from '../files/whole-file.ts'

const run = promisify(execFile)
const COMPILE_MS = 120_000
const COMMON = ['-O2', '-std=gnu11', '-pthread', '-Wno-nonnull-compare']
const FLAGS = {
  library: [...COMMON, '-fPIC', '-shared', '-fvisibility=hidden'],
  bench: [...COMMON, '-I.'],
} as const

/** What can be compiled of the stage: the library, or the benchmark with the same sources in it. */
export type StagePart = keyof typeof FLAGS

export interface StageBuild {
  readonly part?: StagePart
  /** Compiler, by default `cc`. */
  readonly cc?: string
  /** Where the sources are, and where the result is kept. */
  readonly sources?: string
  readonly cache?: string
}

/**
 * The user's folder for what can be made again. The dynamic linker takes no library whose path has a space or a colon in it: then
 * a folder of the user's under /var/tmp.
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

/** Our own folder, which nobody else may write to: what is in it will be loaded into programs. */
function usableFolder(folder: string): Failure | undefined {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const found = lstatSync(folder)
    if (found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o022) === 0) return undefined
    return {
      code: 'STAGE_CACHE',
      what: `The folder ${folder} cannot be used for the stage library`,
      why: 'it must be a folder of this user that nobody else may write to',
      next: 'Set XDG_CACHE_HOME to another one.',
    }
  } catch (e) {
    const why = e instanceof Error ? e.message : String(e)
    return { code: 'STAGE_CACHE', what: `The folder ${folder} cannot be made`, why }
  }
}

/** The finished file where it is there and is what was built. */
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
 * The stage library (or benchmark), built if it is not there.
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
    writeWhole(`${file}.sha256`, hashOf(readFileSync(fresh)))
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
  const said = e instanceof Error && 'stderr' in e ? String(e.stderr) : ''
  const why = said.split('\n').find((line) => line.includes('error')) ?? (e instanceof Error ? e.message : String(e))
  return { code: 'STAGE_BUILD', what: 'The stage library could not be compiled', why: why.slice(0, 500) }
}
