/** Texts of an admission result, shown while a reservation is edited. */
import type { Level } from '#core/api/parts.ts'
import type { TokensAdmission } from '#core/api/tokens.ts'
import { plainText } from '../../format/plain-text.ts'
import { formatNumber, formatPercent } from '../../format/units.ts'

export interface Verdict {
  readonly level: Level
  readonly label: string
  /** Limits that are exceeded, and by how much. */
  readonly reasons: readonly { readonly kind: string; readonly text: string; readonly isRefusal: boolean }[]
  readonly reserved: string
  /** Reserved share, 0..1; above 1 if overcommitted. */
  readonly reservedShare: number
  readonly fluid: string
  readonly fluidShare: number
  readonly isLate: boolean
}

const kindNames = {
  local: 'one client',
  global: 'data node',
  fluid: 'equal shares',
  value: 'value',
} as const

/** Formats a reason, with the amount if the text does not contain it. */
function reasonText({ kind, text, by }: TokensAdmission['reasons'][number]): string {
  const reason = plainText(text)
  if (by === null || by === 0) return reason
  if (kind === 'fluid') return reason // the finishing time is shown below, with its bar
  const amount = Number.isInteger(by) ? formatNumber(by) : formatNumber(by, 3)
  const digits = (s: string): string => s.replace(/[^\d]/g, '')
  return digits(reason).includes(digits(amount)) ? reason : `${reason}, by ${amount}`
}

function labelOf(admit: boolean, isLate: boolean, isInForce: boolean): string {
  if (isInForce) return admit ? 'In force' : 'In force, but would not be admitted now'
  if (!admit) return 'Refused'
  return isLate ? 'Admitted, but not met within the period with equal shares' : 'Admitted, from the next period on'
}

/** @param isInForce  the reservation is in force already. */
export function verdictOf(admission: TokensAdmission, isInForce = false): Verdict {
  const { admit, reasons, reserved, admissible, fluidFinish } = admission
  const isLate = fluidFinish > 1
  const refused = reasons.filter((r) => r.kind !== 'fluid')
  return {
    level: !admit ? (isInForce ? 'watch' : 'bad') : isLate || reasons.length > 0 ? 'watch' : 'ok',
    label: labelOf(admit, isLate, isInForce),
    reasons: reasons.map((r) => ({
      kind: kindNames[r.kind],
      text: reasonText(r),
      isRefusal: !admit && (r.kind !== 'fluid' || refused.length === 0),
    })),
    reserved: `${formatNumber(reserved)} of ${formatNumber(admissible)}`,
    reservedShare: admissible > 0 ? reserved / admissible : reserved > 0 ? Infinity : 0,
    fluid: `${formatPercent(fluidFinish, 1)} of the period`,
    fluidShare: fluidFinish,
    isLate,
  }
}
