/**
 * Parses timer commands from their text: for the closed list of remote commands, which lets through only what this
 * program renders, and determines how root is reached on the server.
 */
import type { QueueChoice } from '#core/control/rule-edit.ts'
import type { TimerKind } from '../base/connection.ts'
import { endTimerCommand, listTimersCommand, makeTimerCommand, DIRECT_LCTL, type RootCommands } from './expiry.ts'
import type { TimerSpec, TimerStop } from './expiry-spec.ts'

export type TimerCommand =
  | { readonly verb: 'make'; readonly kind: TimerKind; readonly timer: TimerSpec }
  | { readonly verb: 'end'; readonly kind: TimerKind; readonly unit: string }
  | { readonly verb: 'list'; readonly kind: TimerKind }

const KINDS = ['systemd', 'shell', 'helper'] as const

/** Renders a timer command; undefined if it is out of bounds. */
export function timerCommandText(c: TimerCommand, root: RootCommands = DIRECT_LCTL): string | undefined {
  const text =
    c.verb === 'make'
      ? makeTimerCommand(c.kind, c.timer, root)
      : c.verb === 'end'
        ? endTimerCommand(c.kind, c.unit)
        : listTimersCommand(c.kind)
  return text.ok ? text.value : undefined
}

const HEADS: Readonly<Record<(typeof KINDS)[number], RegExp>> = {
  systemd: /^systemd-run --on-active=(?<seconds>\d+)s \S+ --unit=(?<unit>\S+) --collect (?<rest>.*)$/,
  shell: /^sh -c '[^']*' sluice-make '[^']*' (?<unit>\S+) (?<seconds>\d+) (?<rest>.*)$/,
  helper: /^sluice-rule expire (?<seconds>\d+) (?<unit>\S+) (?<rest>.*)$/,
}
const ENDS: Readonly<Record<(typeof KINDS)[number], RegExp>> = {
  systemd: /^systemctl stop (?<unit>\S+)\.timer$/,
  shell: /^sh -c '[^']*' sluice-end (?<unit>\S+)$/,
  helper: /^sluice-rule end (?<unit>\S+)$/,
}
const ASSIGNMENT = /(\S+?)=["'\\]*(?:(reg|hp) )?stop (\w+)/g

function stopsIn(kind: TimerKind, rest: string): TimerStop[] {
  if (kind === 'systemd') {
    return [...rest.matchAll(ASSIGNMENT)].map(([, parameter = '', queue = 'both', name = '']) => ({
      parameter,
      queue: queue as QueueChoice,
      name,
    }))
  }
  const parts = rest.split(' ')
  return parts.flatMap((parameter, i) =>
    i % 3 === 0 ? [{ parameter, queue: parts[i + 1] as QueueChoice, name: parts[i + 2] ?? '' }] : [],
  )
}

/**
 * Parses a timer command that was rendered without sudo. A text is accepted only if its parsed form renders to the same
 * text.
 */
export function readTimerCommand(text: string): TimerCommand | undefined {
  const candidates = KINDS.flatMap((kind): TimerCommand[] => {
    const made = HEADS[kind].exec(text)?.groups
    const ended = ENDS[kind].exec(text)?.groups
    if (made) {
      const timer = { unit: made.unit ?? '', seconds: Number(made.seconds), stops: stopsIn(kind, made.rest ?? '') }
      return [{ verb: 'make', kind, timer }]
    }
    return ended ? [{ verb: 'end', kind, unit: ended.unit ?? '' }] : [{ verb: 'list', kind }]
  })
  return candidates.find((c) => timerCommandText(c) === text)
}
