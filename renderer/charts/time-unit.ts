/** Unit of a duration: seconds up to ten minutes, minutes up to two days, days beyond. */
export interface TimeUnit {
  readonly name: 's' | 'min' | 'd'
  /** Length of the unit, s. */
  readonly seconds: number
}

export function timeUnitOf(spanS: number): TimeUnit {
  if (spanS <= 600) return { name: 's', seconds: 1 }
  return spanS <= 172_800 ? { name: 'min', seconds: 60 } : { name: 'd', seconds: 86_400 }
}
