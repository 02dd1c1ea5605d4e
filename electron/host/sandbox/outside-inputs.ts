/** Inputs outside the range of the model, in words with their units. */
import type { OutsideInput } from '#core/api/sandbox.ts'
import type { Scenario } from '#core/emulator/scenario.ts'
import { outsideOf } from '#core/sandbox/model-range.ts'

/** More are not told one by one. */
const MOST = 100

const size = (kib: number): string =>
  kib >= 1024
    ? `${(kib / 1024).toLocaleString('en', { maximumFractionDigits: 1 })} MiB`
    : `${kib.toLocaleString('en')} KiB`

export const outsideInputs = (scenario: Scenario): OutsideInput[] =>
  outsideOf(scenario)
    .slice(0, MOST)
    .map(({ jobId, value, least, most, side, times, bound }) => ({
      ...{ jobId, side, times, input: `RPC size ${size(value)}` },
      range:
        bound === 'fitted' && least !== null
          ? `the fitted range of ${size(least)} to ${size(most)}`
          : `what a Lustre RPC carries, ${size(most)}`,
    }))
