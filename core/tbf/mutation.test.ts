/**
 * 100,000 mutated commands: the golden cases with bytes flipped, pieces cut, duplicated and repeated. None may throw or hang,
 * every result is a known errno, and a refused command changes nothing except on the heads before the failing one.
 */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { randomStream, type RandomStream } from '../base/random.ts'
import { profile } from '../lustre/profile.ts'
import { RELEASES, type Release } from '../lustre/release.ts'
import { diagnoseRule } from './diagnose-rule.ts'
import { NrsService } from './nrs-service.ts'
import { parsePolicyCommand, OST_IO_POLICIES } from './policy-command.ts'
import { readPastedLine } from './pasted-line.ts'
import type { ScheduledRequest } from './scheduler.ts'

const COMMANDS = 100_000
const KNOWN = ['ok', 'EINVAL', 'ENAMETOOLONG', 'EEXIST', 'ENOENT', 'EPERM', 'ENODEV', 'EAGAIN', 'ENOTSUPP']
const ALPHABET = ' \n\t={},&*+-/[]@.:0159azAZ_xX|()\\\'"\0\u007f\u00a0\u00e9\u00ff'
const POLICIES = ['tbf', 'tbf jobid', 'tbf nid', 'tbf reg uid', 'tbf hp opcode', 'tbf jobid+nid', 'tbf nodemap', 'fifo']

const cases = readFileSync(new URL('../../tests/cases/lustre.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as { param: string; cmd: string })
const seeds = (param: string): string[] => cases.filter((c) => c.param === param).map((c) => c.cmd)
const RULES = [
  ...seeds('nrs_tbf_rule'),
  'reg start a jobid={x}&nid={1.[2-9/3].*.1@tcp 2001:db8::/32@tcp} rate=5 rank=default realtime=1',
]
const CHANGES = seeds('nrs_policies')

function mutate(random: RandomStream, seed: string): string {
  let text = seed
  for (let n = random.below(5); n > 0; n--) {
    const at = random.below(text.length + 1)
    const some = ALPHABET[random.below(ALPHABET.length)] as string
    const length = 1 + random.below(12)
    const kinds = [
      () => text.slice(0, at) + some + text.slice(at + 1),
      () => text.slice(0, at) + some + text.slice(at),
      () => text.slice(0, at) + text.slice(at + length),
      () => text.slice(0, at) + text.slice(at, at + length) + text.slice(at),
      () => text.slice(0, at),
      () => text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ (1 << random.below(8))) + text.slice(at + 1),
    ]
    const kind =
      random.below(60) === 0
        ? () => text.slice(0, at) + some.repeat(random.below(5000)) + text.slice(at)
        : kinds[random.below(kinds.length)]
    text = (kind as () => string)()
  }
  return text
}

type Service = NrsService<ScheduledRequest>
/** Rules of each head, in the order in which a write walks them. */
function dump(s: Service): string[] {
  const heads = Array.from({ length: s.cpts * 2 }, () => '')
  for (const r of s.rules()) heads[r.cpt * 2 + (r.queue === 'hp' ? 1 : 0)] += `${r.name} ${r.conditions} ${r.rate}\n`
  return heads
}
const changedHeads = (before: readonly string[], after: readonly string[]): number[] =>
  after.flatMap((d, i) => (d === before[i] ? [] : [i]))

function fresh(release: Release, policy: string): Service {
  const s: Service = new NrsService<ScheduledRequest>({ cpts: 2, hp: true, profile: profile(release) })
  s.writePolicies(policy)
  return s
}

describe('mutated commands', () => {
  it.each(RELEASES)('are answered as Lustre %s would, and change nothing when they are refused', (release) => {
    const random = randomStream(4690, `mutations ${release}`)
    const verdicts = new Map<string, number>()
    let s = fresh(release, 'tbf')
    for (let i = 0; i < COMMANDS / RELEASES.length; i++) {
      if (i % 50 === 0) s = fresh(release, POLICIES[random.below(POLICIES.length)] as string)
      const isRule = random.below(10) > 0
      const from = isRule ? RULES : CHANGES
      const text = mutate(random, from[random.below(from.length)] as string)
      const before = dump(s)
      const diagnosis = isRule ? diagnoseRule(text, { type: '', profile: profile(release) }) : undefined
      const done = isRule ? s.writeRule(text) : s.writePolicies(text)
      const verdict = done.ok ? 'ok' : done.error
      if (!KNOWN.includes(verdict)) throw new Error(`${JSON.stringify(text)}: ${verdict}`)
      verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + 1)
      const pasted = readPastedLine(text)
      for (const f of [diagnosis?.fault, pasted.fault]) {
        if (f && !(f.at >= 0 && f.at + f.length <= text.length))
          throw new Error(`${JSON.stringify(text)}: ${JSON.stringify(f)}`)
      }
      if (done.ok) continue
      const changed = changedHeads(before, dump(s))
      if (changed.length === 0) continue
      // A malformed command reaches no head; a refused one changes only the heads walked before the one that refused it.
      const isFormed = isRule
        ? diagnosis?.command
        : parsePolicyCommand(text, { hp: true, policies: OST_IO_POLICIES }).ok
      const isOfOneQueue = changed.every((h) => h % 2 === 0) || changed.every((h) => h % 2 === 1)
      const step = isOfOneQueue && /^(?:\S+ )?(?:reg|hp) /.test(text) ? 2 : 1
      const isPrefix = changed.every((h, k) => h === (changed[0] as number) + k * step)
      if (!isFormed || !isPrefix || changed.length === 4) {
        throw new Error(`${JSON.stringify(text)}: ${verdict}, yet heads ${changed.join()} changed`)
      }
    }
    for (const verdict of ['ok', 'EINVAL', 'ENOENT', 'EEXIST', 'ENODEV']) {
      expect(verdicts.get(verdict) ?? 0, verdict).toBeGreaterThan(20)
    }
  })
})
