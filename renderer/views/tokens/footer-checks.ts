/** Display models of the four checks in the footer: level, value, and bound. */
import type { Level } from '#core/api/parts.ts'
import type { TokensFrame } from '#core/api/tokens.ts'
import { plainText } from '../../format/plain-text.ts'
import { formatNumber, formatPercent } from '../../format/units.ts'
import { capacityNow } from './capacity-model.ts'
import { shortTokens } from './token-unit.ts'

export interface FooterCheck {
  readonly id: 'cpu' | 'idle' | 'missed' | 'reserved'
  readonly level: Level
  readonly value: string
  readonly lines: readonly [string, string]
  readonly title: string
}

/** Share of idle tokens from which on work is not conserved; a batch of each client's claim is less. */
const IDLE_WATCH = 0.01

function cpuCheck({ foot }: TokensFrame): FooterCheck {
  const { dataCpuEvents: events, dataIos: ios, cpuEvents } = foot
  if (events === null) {
    const lines: [string, string] = ['data I/Os that woke the data-node CPU:', 'not recorded']
    return { id: 'cpu', level: 'unknown', value: formatNumber(null), lines, title: 'Wake-ups are counted live only.' }
  }
  const level = events > 0 ? 'bad' : ios === 0 ? 'idle' : 'ok'
  const lines: [string, string] =
    events > 0
      ? [`data-node CPU events for ${shortTokens(ios)} data I/Os,`, 'must be 0: data I/O woke the CPU']
      : ['data I/Os that woke the data-node CPU', ios === 0 ? 'must be 0; no data I/O yet' : 'must be 0']
  const title = `${formatNumber(events)} CPU events for ${formatNumber(ios)} data I/Os. ${formatNumber(cpuEvents)} CPU events in total: periods, checks and admission wake the CPU, data I/O must not.`
  return { id: 'cpu', level, value: formatNumber(events), lines, title }
}

function idleCheck({ foot }: TokensFrame): FooterCheck {
  const share = foot.idleShare
  const level = share === null ? 'idle' : share > IDLE_WATCH ? 'watch' : 'ok'
  return {
    id: 'idle',
    level,
    value: formatPercent(share, 1),
    lines: ['idle tokens while a client', share === null ? 'is starved; no client was' : 'is starved, this period'],
    title:
      'Work conservation: share of tokens that were idle while a client waited for one. Conversion keeps it near 0.',
  }
}

function missedCheck({ foot }: TokensFrame): FooterCheck {
  const { worst } = foot
  const title = 'Whole periods in a row in which a client had requests and completed less than its reservation.'
  if (worst === null || worst.periods === 0)
    return { id: 'missed', level: 'ok', value: '0', lines: ['reservations missed', 'in the last period'], title }
  const { alertAfter } = worst
  const level = alertAfter !== null && worst.periods >= alertAfter ? 'bad' : 'watch'
  const limit = alertAfter === null ? '' : formatNumber(alertAfter)
  return {
    id: 'missed',
    level,
    title,
    value: `${formatNumber(worst.periods)}${limit && ` of ${limit}`}`,
    lines: [
      `periods ${plainText(worst.client)} missed in a row,`,
      limit === '' ? 'alert limit not recorded' : `alert at ${limit}`,
    ],
  }
}

function reservedCheck(frame: TokensFrame): FooterCheck {
  const { reserved, admissible, fluidFinish } = frame.foot
  const { estimate } = capacityNow(frame.capacity)
  const isOver = estimate !== null && reserved > estimate
  const isLate = fluidFinish !== null && fluidFinish > 1
  const finish =
    fluidFinish === null
      ? ''
      : ` With equal shares, all reservations are met by ${formatPercent(fluidFinish, 1)} of the period.`
  const closes = isOver ? 'overcommitted: admission is closed' : `maximum ${shortTokens(admissible)}`
  const lines: [string, string] = isOver
    ? ['reserved, overcommitted:', 'admission is closed']
    : isLate
      ? [`reserved, met in ${formatNumber(fluidFinish, 2)} periods;`, closes]
      : ['reserved,', closes]
  return {
    id: 'reserved',
    level: isOver ? 'bad' : isLate || reserved > admissible ? 'watch' : 'idle',
    value: estimate === null ? shortTokens(reserved) : ofText(reserved, estimate),
    lines,
    title: `${formatNumber(reserved)} of ${formatNumber(estimate)} tokens per period are reserved, ${closes}.${finish}`,
  }
}

/** Formats two counts in the same unit: `1 254 of 1 568 k`. */
function ofText(part: number, total: number): string {
  if (total < 10_000) return `${formatNumber(part)} of ${formatNumber(total)}`
  const digits = total < 99_950 ? 1 : 0
  return `${formatNumber(part / 1000, digits)} of ${formatNumber(total / 1000, digits)} k`
}

export const footerChecks = (frame: TokensFrame): FooterCheck[] => [
  cpuCheck(frame),
  idleCheck(frame),
  missedCheck(frame),
  reservedCheck(frame),
]
