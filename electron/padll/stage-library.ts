/** Stage library (resources/stage), built on the machine that uses it. */
import { readdirSync } from 'node:fs'
import type { Result } from '#core/base/result.ts'
import { cacheFolder, LIBRARY_FLAGS, nativeLibrary } from '../files/native-library.ts'
import { resourcePath } from '../files/resources.ts'

const PARTS = {
  library: { output: 'libsluice-stage-#.so', flags: LIBRARY_FLAGS, more: [] },
  bench: { output: 'stage-bench-#', flags: ['-I.'], more: ['bench/bench.c'] },
} as const

/** Targets of the build: the library, or the benchmark, which includes the same sources. */
export type StagePart = keyof typeof PARTS

export interface StageBuild {
  readonly part?: StagePart
  /** Compiler, by default `cc`. */
  readonly cc?: string
  /** Folder of the sources; `cache` is that of the result. */
  readonly sources?: string
  readonly cache?: string
}

/**
 * Path of the stage library (or benchmark), built if necessary.
 *
 * @returns its path. Codes: STAGE_PLATFORM (not Linux), STAGE_SOURCES, STAGE_CACHE, NO_COMPILER, STAGE_BUILD.
 */
export function stageLibrary(build: StageBuild = {}): Promise<Result<string>> {
  const { part = 'library', cc = 'cc', sources: folder = resourcePath('stage'), cache = cacheFolder() } = build
  const { output, flags, more } = PARTS[part]
  const sources = (): string[] => [...readdirSync(folder).filter((name) => /\.[ch]$/.test(name)), ...more].sort()
  return nativeLibrary({ title: 'the stage library', code: 'STAGE', output, folder, sources, flags, cc, cache })
}
