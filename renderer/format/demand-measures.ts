/** Displayed meaning of AdapTBF's demand measures. */
import type { DemandMeasure } from '#core/api/adaptbf.ts'

export const demandMeasures: Readonly<Record<DemandMeasure, string>> = {
  served: 'served RPCs (as in the paper)',
  saturation: 'served RPCs, raised for jobs at their rate limit',
  dispatched: 'RPCs taken by service threads',
  arrivals: 'arriving RPCs',
  backlog: 'RPCs taken by service threads, plus queued ones',
}
