/**
 * Text of a server that is made to keep the console busy: the time of every parser grows linearly with the text, not
 * with its square.
 */
import { describe, expect, it } from 'vitest'
import { parseBrwStats } from '#core/lustre/brw-stats.ts'
import { parseCpuPartitions } from '#core/lustre/cpu-partitions.ts'
import { parseDevices } from '#core/lustre/devices.ts'
import { parseJobStats } from '#core/lustre/job-stats.ts'
import { splitParams } from '#core/lustre/lctl.ts'
import { parseLdlm } from '#core/lustre/ldlm-counters.ts'
import { parseMgsLive } from '#core/lustre/mgs-live.ts'
import { parseNrsPolicies } from '#core/lustre/nrs-policies.ts'
import { parseNrsTbfRule } from '#core/lustre/nrs-tbf-rule.ts'
import { parseStatsTable } from '#core/lustre/stats-table.ts'
import { parseVersion } from '#core/lustre/version.ts'
import { isLctlGone, isSudoRefusal, lctlPath, readVersion } from './discovery/find-lustre.ts'
import { parseSudoList, scopeOf, scopeOfRefusal } from './discovery/sudo-list.ts'
import { parseLogin } from './discovery/discover.ts'

const refused = (t: string) => ({ stdout: t, stderr: t, code: 1 })
const PARSERS: Readonly<Record<string, (text: string) => unknown>> = {
  parseBrwStats,
  parseCpuPartitions,
  parseDevices,
  parseJobStats,
  parseLdlm,
  parseMgsLive,
  parseNrsPolicies,
  parseNrsTbfRule,
  parseStatsTable,
  parseVersion,
  parseLogin,
  lctlPath,
  readVersion,
  splitParams: (t) => [...splitParams(t)],
  sudoRefusal: (t) => [isSudoRefusal(refused(t)), isLctlGone(refused(t)), scopeOfRefusal(t, t, 1)],
  sudoScope: (t) => scopeOf(parseSudoList(t)),
}

/** Prefixes of a line that a pattern accepts, followed by endless repetition. */
const HEADS = [
  '',
  'x',
  '  0 UP ',
  '0\t: ',
  'a {',
  '- job_id: ',
  '  - name: ',
  '    (root) NOPASSWD: ',
  'sudo: ',
  'read_bytes ',
]
const UNITS = [' ', '\t', 'a', '1', '1 ', ' 1', '{', '[', '\\', '/', ', ', 'a,', 'a=', '*', '(', ': ']
const SMALL = 8_000
const LARGE = 128_000
const GROWTH_MOST = 100
/** Shorter times measure the clock rather than the parser, ms. */
const LEAST_MS = 0.3
/** A text is parsed repeatedly, to take the shortest of several times, until this, ms. */
const ENOUGH_MS = 2_000

function shortest(parse: (text: string) => unknown, text: string): number {
  let least = Infinity
  const firstMs = performance.now()
  for (let i = 0; i < 8 && least > LEAST_MS && performance.now() - firstMs < ENOUGH_MS; i++) {
    const began = performance.now()
    parse(text)
    least = Math.min(least, performance.now() - began)
  }
  return Math.max(LEAST_MS, least)
}

describe('a hostile answer of a server', () => {
  it.each(Object.entries(PARSERS))('takes %s a time in proportion to its length', (_, parse) => {
    const slow: string[] = []
    for (const head of HEADS) {
      for (const unit of UNITS) {
        const of = (length: number): string => `${head}${unit.repeat(length / unit.length)}\u0001`
        const large = shortest(parse, of(LARGE))
        // Sixteen times as long; with a quadratic parser it would be 256 times.
        if (large > GROWTH_MOST * LEAST_MS && large > GROWTH_MOST * shortest(parse, of(SMALL))) slow.push(head + unit)
      }
    }
    expect(slow).toEqual([])
  })
})
