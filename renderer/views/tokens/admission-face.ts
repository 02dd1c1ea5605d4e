/** What admission says to a reservation, as the editor shows it while it is typed. */
import type { Level } from '#core/api/parts.ts'
import type { TokensAdmission } from '#core/api/tokens.ts'
import { plainText } from '../../format/plain-text.ts'
import { formatNumber, formatPercent } from '../../format/units.ts'

export interface Verdict {
  readonly level: Level
  readonly words: string
  /** Which limit, and by how much. */
  readonly reasons: readonly { readonly kind: string; readonly text: string; readonly isRefusal: boolean }[]
  readonly reserved: string
  /** Shares 0..1 and beyond. */
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

/** The text of a reason, with the amount where the text does not name it. */
function reasonText({ kind, text, by }: TokensAdmission['reasons'][number]): string {
  const said = plainText(text)
  if (by === null || by === 0) return said
  if (kind === 'fluid') return said // the finishing time stands below, with its bar
  const amount = Number.isInteger(by) ? formatNumber(by) : formatNumber(by, 3)
  const digits = (s: string): string => s.replace(/[^\d]/g, '')
  return digits(said).includes(digits(amount)) ? said : `${said}, by ${amount}`
}

function wordsOf(admit: boolean, isLate: boolean, isInForce: boolean): string {
  if (isInForce) return admit ? 'In force' : 'In force, though it would not be admitted now'
  if (!admit) return 'Refused'
  return isLate ? 'Admitted, but equal shares cannot meet it in time' : 'Admitted, from the next period on'
}

/** @param isInForce  it is what holds already. */
export function verdictOf(admission: TokensAdmission, isInForce = false): Verdict {
  const { admit, reasons, reserved, admissible, fluidFinish } = admission
  const isLate = fluidFinish > 1
  const refused = reasons.filter((r) => r.kind !== 'fluid')
  return {
    level: !admit ? (isInForce ? 'watch' : 'bad') : isLate || reasons.length > 0 ? 'watch' : 'ok',
    words: wordsOf(admit, isLate, isInForce),
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
