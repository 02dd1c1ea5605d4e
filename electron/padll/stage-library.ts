/** Stage library and its benchmark, which includes the same sources: built from resources/stage on the machine that uses them. */
import type { Result } from '#core/base/result.ts'
import { nativeProgram, type NativeBuild, type NativeProgram } from '../files/native-build.ts'

const COMMON = ['-O2', '-std=gnu11', '-pthread', '-Wno-nonnull-compare']
const STAGE = { folder: 'stage', what: 'the stage library', code: 'STAGE', libraries: ['-ldl'] } as const

const PARTS = {
  library: {
    ...STAGE,
    name: ['libsluice-stage-', '.so'],
    flags: [...COMMON, '-fPIC', '-shared', '-fvisibility=hidden'],
  },
  bench: { ...STAGE, name: ['stage-bench-', ''], flags: [...COMMON, '-I.'], more: ['bench/bench.c'] },
} as const satisfies Record<string, NativeProgram>

export interface StageBuild extends NativeBuild {
  readonly part?: keyof typeof PARTS
}

/** Path of the stage library (or benchmark). Codes: those of `nativeProgram` with the prefix STAGE. */
export const stageLibrary = ({ part = 'library', ...build }: StageBuild = {}): Promise<Result<string>> =>
  nativeProgram(PARTS[part], build)
