/**
 * Requests per second through the C stage in a closed loop (resources/stage/bench), as the paper measures one stage: 1 to 256
 * threads, as many channels, rates that never throttle; its stage served 1.28 to 3.20 M/s (V-D). `stub`: no call behind the stage;
 * baseline: the same stage without limits. `kernel`: the real call; baseline: the call without a stage.
 */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import * as z from 'zod'
import { formatFailure } from '#core/base/result.ts'
import type { Bench } from '../../bench/measure.ts'
import { stageLibrary } from './stage-library.ts'

const SECONDS = '0.3'
const measured = z.object({ perSecond: z.number(), passThrough: z.number(), bare: z.number() })
type Measured = z.infer<typeof measured>

const hasCompiler = (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, 'cc')))

let program: Promise<string> | undefined
/** Built on first use: other benchmarks need no compiler. */
const built = (): Promise<string> => (program ??= stageLibrary({ part: 'bench' }).then(found))

function found(built: Awaited<ReturnType<typeof stageLibrary>>): string {
  if (!built.ok) throw new Error(formatFailure(built.error))
  return built.value
}

interface Loop {
  readonly threads: number
  readonly calls: 'calls' | 'open-close'
  readonly behind: 'stub' | 'kernel'
}

/** One program run measures the loop and its baseline; both results come from the same runs. */
function bench({ threads, calls, behind }: Loop) {
  const seen: Measured[] = []
  let next = 0
  return {
    id: `padll.c-stage.${calls}.${behind}.${threads}-threads`,
    unit: 'requests/s',
    runs: 5,
    note: `${calls} in a closed loop of ${threads} threads, ${behind === 'stub' ? 'nothing behind the stage' : 'the real call behind it'}`,
    beside:
      behind === 'stub'
        ? 'the same calls through a stage that limits nothing'
        : 'the same system calls without a stage',
    ...(behind === 'stub' && calls === 'calls'
      ? { paper: '1.28 to 3.20 M/s, one stage of 1 to 256 channels (PADLL V-D)', must: { least: 3_200_000 } }
      : {}),
    ...(behind === 'stub'
      ? { limit: 'An atomic word for each of what a call counts and takes, shared by all threads.' }
      : {}),
    run: async () => {
      const text = execFileSync(await built(), [String(threads), SECONDS, calls, behind], { encoding: 'utf8' })
      const one = measured.parse(JSON.parse(text))
      seen.push(one)
      return one.perSecond
    },
    baseline: () => {
      const one = seen[next++ % seen.length]
      return (behind === 'stub' ? one?.passThrough : one?.bare) ?? NaN
    },
  }
}

const LOOPS: readonly Loop[] = [
  ...[1, 2, 16, 256].map((threads): Loop => ({ threads, calls: 'calls', behind: 'stub' })),
  { threads: 1, calls: 'open-close', behind: 'stub' },
  { threads: 1, calls: 'open-close', behind: 'kernel' },
  { threads: 2, calls: 'open-close', behind: 'kernel' },
]

/** Empty if the stage cannot be built. */
export const benches: readonly Bench[] = process.platform === 'linux' && hasCompiler ? LOOPS.map(bench) : []
