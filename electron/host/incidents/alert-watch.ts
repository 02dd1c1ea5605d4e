/** Watches one console while it runs: once a sample its figures are judged, and what begins is told where it belongs. */
import type { Change, Entry } from '#core/alerts/book.ts'
import type { AlertWatch } from '#core/alerts/watch.ts'
import type { Mark } from '#core/api/frames.ts'
import type { AlertKind } from '#core/api/incidents.ts'
import type { Console } from '../console.ts'
import { AlertFacts } from './alert-facts.ts'

/** Looks closer together than this share of a sampling period are one: choices of operators are told between samples, too. */
const SAME_LOOK = 0.5
/** Marks that may tell the same, this long before it. */
const TOLD_MS = 30_000
const MARKS = 500

const SUBJECTS: Readonly<Record<AlertKind, string>> = {
  ...{ queue: 'Queue', starvation: 'Starvation', convoy: 'Locks', reservation: 'Tokens', disconnect: 'Source' },
}

export interface ConsoleWatch {
  /** The last look. */
  readonly atMs: number
  /** It is disconnected: what goes on ends with it. */
  stop(): void
  /** Nobody looks any more. */
  leave(): void
}

/** @param taken  what changed at an instant; only where something did. */
export function watchConsole(
  console: Console,
  watch: AlertWatch,
  taken: (changes: readonly Change[], atMs: number) => void,
): ConsoleWatch {
  const { monitor } = console
  const facts = new AlertFacts(monitor)
  let lastMs = -Infinity
  watch.restart()
  const off = monitor.onChange(() => {
    const atMs = monitor.nowMs()
    if (atMs - lastMs < (SAME_LOOK * monitor.source.periodNs) / 1e6) return
    lastMs = atMs
    const changes = watch.look(facts.take(atMs))
    for (const { what, entry } of changes) if (what === 'opened') mark(monitor.events, entry, atMs)
    if (changes.length > 0) taken(changes, atMs)
  })
  return {
    get atMs() {
      return lastMs
    },
    stop: () => {
      off()
      if (lastMs > -Infinity) taken(watch.close(lastMs), lastMs)
    },
    leave: () => void off(),
  }
}

/** One mark an alert, unless whoever measured it has told of it. */
function mark(events: Console['monitor']['events'], entry: Entry, atMs: number): void {
  const fromMs = Math.min(entry.fromMs, atMs) - TOLD_MS
  if (events.between(fromMs, atMs, MARKS).some((m) => tells(m, entry))) return
  const { level, text, where } = entry
  events.add({ atMs, kind: 'alarm', level, subject: SUBJECTS[entry.kind], text, where })
}

function tells(m: Mark, { kind, where }: Entry): boolean {
  if (kind === 'disconnect')
    return m.kind === 'lost' && m.subject === 'Source' && m.level === 'bad' && m.where === where
  return (
    kind === 'convoy' && m.kind === 'alarm' && m.subject === 'Locks' && m.where === where && m.text.startsWith('Convoy')
  )
}
