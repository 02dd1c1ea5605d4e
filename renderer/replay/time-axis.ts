/** Labels of the page's time axes, which reach from seconds to the whole retention of a history. */
import { formatDate } from '#core/base/clock-text.ts'
import { clockStep } from '../charts/clock-ticks.ts'
import { clockAxis, type AxisTick } from '../charts/picture.ts'
import { ticksWithin, type Ends } from '../charts/plot.ts'

const DAY_MS = 86_400_000
/** Width of a date label, px. */
const DATE_PX = 74

/** Labels of the clock; dates from a step of a day on. */
export function timeAxis(ends: Ends, plotPx: number): readonly AxisTick[] {
  const most = Math.max(1, Math.min(7, plotPx / DATE_PX))
  if (clockStep(ends, most) < DAY_MS) return clockAxis(ends, plotPx)
  const step = DAY_MS * Math.ceil((ends.max - ends.min) / DAY_MS / most)
  return ticksWithin(ends, step).map((at) => ({ at, text: formatDate(at) }))
}
