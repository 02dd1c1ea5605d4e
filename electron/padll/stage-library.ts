/** Stage library and its benchmark, which includes the same sources: built from resources/stage on the machine that uses them. */
import type { Result } from '#core/base/result.ts'
import {
  LIBRARY_FLAGS,
  nativeProgram,
  PROGRAM_FLAGS,
  type NativeBuild,
  type NativeProgram,
} from '../files/native-build.ts'

const STAGE = { folder: 'stage', what: 'the stage library', code: 'STAGE', libraries: ['-ldl'] } as const

const PARTS = {
  library: {
    ...STAGE,
    name: ['libsluice-stage-', '.so'],
    flags: LIBRARY_FLAGS,
  },
  bench: { ...STAGE, name: ['stage-bench-', ''], flags: [...PROGRAM_FLAGS, '-I.'], more: ['bench/bench.c'] },
} as const satisfies Record<string, NativeProgram>

export interface StageBuild extends NativeBuild {
  readonly part?: keyof typeof PARTS
}

/** Path of the stage library (or benchmark). Codes: those of `nativeProgram` with the prefix STAGE. */
export const stageLibrary = ({ part = 'library', ...build }: StageBuild = {}): Promise<Result<string>> =>
  nativeProgram(PARTS[part], build)
