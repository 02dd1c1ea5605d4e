/**
 * Redacts raw server texts. Their format is known, so job ids and rules are found by position; figures and words of
 * Lustre are kept even if someone has the same name.
 */
import { parseJobId } from '#core/lustre/job-id.ts'
import type { Redactor } from '#core/snapshot/redactor.ts'
import type { RawReading } from '../bundle/bundle-source.ts'

const JOB = /^(\s*-?\s*job_id:\s*)(.*)$/
/** `read_bytes: { samples: 3, unit: bytes, min: 4096 }`, `snapshot_time: 1795281129.2`. */
const FIGURES =
  /^\s*[a-z_]+\s*:\s*(?:\{(?:\s*[a-z_0-9]+\s*:\s*(?:[\d.]+|bytes|reqs|usecs?|usec|pages)\s*,?)*\s*\}|[\d.]+(?: ?secs?\.nsecs)?)?\s*$/
const RULE = /^(\s*)(\S+)(\s+)(\*|(?:[a-z]+\s*=\s*)?\{.*\})(\s+\d.*)$/
/** `ost_io.nrs_tbf_rule=` and similar prefixes of a printed value. */
const HEADS = /^\s*(?:job_stats|regular_requests|high_priority_requests|CPT \d+):?\s*$/

type Line =
  | { readonly kind: 'job'; readonly before: string; readonly job: string }
  | { readonly kind: 'rule'; readonly parts: readonly [string, string, string, string, string] }
  | { readonly kind: 'figures' | 'text' }

function lineOf(line: string): Line {
  const job = JOB.exec(line)
  if (job) return { kind: 'job', before: job[1] as string, job: parseJobId((job[2] as string).trimEnd()) }
  if (FIGURES.test(line) || HEADS.test(line)) return { kind: 'figures' }
  const rule = RULE.exec(line)
  if (rule) return { kind: 'rule', parts: rule.slice(1) as [string, string, string, string, string] }
  return { kind: 'text' }
}

/** Names in a line, by their position. */
export function readingNames(text: string, take: (kind: 'job' | 'rule' | 'conditions', name: string) => void): void {
  for (const line of text.split('\n')) {
    const read = lineOf(line)
    if (read.kind === 'job') take('job', read.job)
    else if (read.kind === 'rule') {
      take('rule', read.parts[1])
      take('conditions', read.parts[3])
    }
  }
}

function redactLine(line: string, r: Redactor): string {
  const read = lineOf(line)
  switch (read.kind) {
    case 'job':
      return read.before + r.name('job', read.job)
    case 'rule': {
      const [indent, name, gap, conditions, rest] = read.parts
      return `${indent}${r.name('rule', name)}${gap}${r.conditions(conditions)}${r.text(rest)}`
    }
    case 'figures':
      return line
    case 'text':
      return line === '' ? line : r.text(line)
  }
}

export function redactReadings(readings: readonly RawReading[], r: Redactor): RawReading[] {
  if (!r.isOn) return [...readings]
  return readings.map((of) => ({
    ...of,
    server: r.name('host', of.server),
    what: r.text(of.what),
    text: of.text
      .split('\n')
      .map((line) => redactLine(line, r))
      .join('\n'),
  }))
}
