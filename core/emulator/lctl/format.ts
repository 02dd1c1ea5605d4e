/** One parameter as get_param prints it. Source: spec/lustre 0.2 and 7.1, measured A12, A13, A26. */
import { formatParam } from '../../lustre/lctl.ts'
import type { LctlDialect } from '../../lustre/lctl-dialect.ts'
import type { ByteText } from '../../lustre/text.ts'

export interface ValueLayout {
  /** `-n` leaves it out. */
  readonly hasName: boolean
  /** `-H`: the name before every line of a value of several. */
  readonly isHeaded: boolean
  /** `-y`: `name: value`, on one line as long as the value does not break it. */
  readonly isYaml: boolean
}

const chomp = (text: ByteText): ByteText => (text.endsWith('\n') ? text.slice(0, -1) : text)

/** Up to 2.16 a value stands on a line of its own when it would go beyond the 80th column, newline included. */
function formatOld(name: string, value: ByteText, hasName: boolean, breakAt: number, printsEmpty: boolean): ByteText {
  if (value === '' && !(printsEmpty && hasName)) return ''
  const inner = chomp(value)
  const isBroken = inner.includes('\n') || name.length + value.length >= breakAt
  return hasName ? `${name}=${isBroken ? '\n' : ''}${inner}\n` : `${inner}\n`
}

export function formatValue(dialect: LctlDialect, name: string, value: ByteText, layout: ValueLayout): ByteText {
  const { hasName } = layout
  const inner = chomp(value)
  if (layout.isHeaded && inner.includes('\n')) {
    return inner
      .split('\n')
      .map((line) => `${name}=${line}\n`)
      .join('')
  }
  if (layout.isYaml && hasName) return `${name}: ${inner}\n`
  if (dialect.breakAt !== undefined) return formatOld(name, value, hasName, dialect.breakAt, dialect.printsEmpty)
  if (hasName) return formatParam(name, value)
  return inner === '' ? '' : `${inner}\n`
}

/**
 * A table as netlink hands it to users without debugfs: every counter lacks the last character of its line; 2.17.0 also
 * takes the start of the table for a time since boot.
 *
 * @param bootSeconds  Unix time at which the node's monotonic clock was 0.
 */
export function throughNetlink(dialect: LctlDialect, table: ByteText, bootSeconds: number): ByteText {
  const cut = table.replace(/^(\S+ +\d+ samples .*).$/gm, '$1')
  if (!dialect.netlinkElapsedIsAbsolute) return cut
  const ns = (name: string): bigint | undefined => {
    const m = new RegExp(`^${name} +(\\d+)\\.(\\d{9}) `, 'm').exec(table)
    return m ? BigInt(`${m[1]}${m[2]}`) : undefined
  }
  const snapshot = ns('snapshot_time')
  const start = ns('start_time')
  if (snapshot === undefined || start === undefined) return cut
  const bogus = String(snapshot - (start - BigInt(Math.trunc(bootSeconds)) * 1_000_000_000n)).padStart(10, '0')
  return cut.replace(/^(elapsed_time +)\d+\.\d{9} /m, `$1${bogus.slice(0, -9)}.${bogus.slice(-9)} `)
}
