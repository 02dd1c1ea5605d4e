/**
 * What a stage counts per call: calls, errors, bypassed ones and bytes, in two tables as upstream has them, what was looked at
 * and what was only passed through (switch off, not ready). Source: spec/padll 1.1. "Bypassed": intercepted, but no managed file.
 */
import { BYPASS_REASONS, type BypassReason, FORWARDED, type Forwarded } from './request.ts'
import { CALL_CLASSES, type CallClass, POSIX_CALLS, type PosixCallRow } from '../posix-calls.ts'

export interface CallCounts {
  readonly calls: number
  readonly errors: number
  readonly bypassed: number
  readonly bytes: number
}

export class CallTable {
  // By index of the call.
  readonly #calls = new Float64Array(POSIX_CALLS.length)
  readonly #errors = new Float64Array(POSIX_CALLS.length)
  readonly #bypassed = new Float64Array(POSIX_CALLS.length)
  readonly #bytes = new Float64Array(POSIX_CALLS.length)

  add(index: number, count: number): void {
    this.#calls[index] = (this.#calls[index] as number) + count
  }

  addBytes(index: number, bytes: number): void {
    this.#bytes[index] = (this.#bytes[index] as number) + bytes
  }

  addErrors(index: number, count: number): void {
    this.#errors[index] = (this.#errors[index] as number) + count
  }

  addBypassed(index: number, count: number): void {
    this.#bypassed[index] = (this.#bypassed[index] as number) + count
  }

  of(call: PosixCallRow): CallCounts {
    return this.#sum([call])
  }

  ofClass(klass: CallClass): CallCounts {
    return this.#sum(POSIX_CALLS.filter((call) => call.klass === klass))
  }

  #sum(of: readonly PosixCallRow[]): CallCounts {
    const sum = (all: Float64Array): number => of.reduce((s, call) => s + (all[call.index] as number), 0)
    return {
      calls: sum(this.#calls),
      errors: sum(this.#errors),
      bypassed: sum(this.#bypassed),
      bytes: sum(this.#bytes),
    }
  }
}

export class CallStatistics {
  readonly intercepted = new CallTable()
  readonly passedThrough = new CallTable()
  readonly #byReason = new Float64Array(BYPASS_REASONS.length)

  addForwarded(forwarded: Forwarded, count: number): void {
    this.#byReason[forwarded.index] = (this.#byReason[forwarded.index] as number) + count
  }

  /** Operations forwarded for this reason. */
  forwarded(reason: BypassReason): number {
    return this.#byReason[FORWARDED[reason].index] as number
  }
}

const COLUMNS = ['calls', 'errors', 'bypassed', 'bytes'] as const

/** One of the two reports, for people: classes with their sums, and below each its calls that came. */
export function formatCallTable(table: CallTable, title: string): string {
  const line = (name: string, counts: CallCounts): string =>
    name.padEnd(16) + COLUMNS.map((column) => String(counts[column]).padStart(16)).join('')
  const lines = [title, ''.padEnd(16) + COLUMNS.map((column) => column.padStart(16)).join('')]
  for (const klass of CALL_CLASSES) {
    lines.push(line(klass, table.ofClass(klass)))
    for (const call of POSIX_CALLS) {
      if (call.klass === klass && table.of(call).calls > 0) lines.push(line(`  ${call.name}`, table.of(call)))
    }
  }
  return `${lines.join('\n')}\n`
}
