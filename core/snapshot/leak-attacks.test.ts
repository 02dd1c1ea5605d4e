/** Names that could leak although each is known in its own field. */
import { describe, expect, it } from 'vitest'
import { shortHash } from '../base/hash.ts'
import { NameCollector, type PlainKind } from './names.ts'
import { makeRedactor, type Pseudonyms } from './pseudonyms.ts'

const redactorOf = (names: Partial<Record<PlainKind, readonly string[]>>): Pseudonyms => {
  const collector = new NameCollector()
  for (const [kind, all] of Object.entries(names)) for (const name of all) collector.add(kind as PlainKind, name)
  return makeRedactor(collector, (kind, text) =>
    [1, 2, 3, 4].map((i) => shortHash(`k${i}${kind}\u0000${text}`)).join(''),
  )
}

describe('exploit: a name in another spelling', () => {
  const r = redactorOf({
    user: ['ana', 'wei-lin', "o'brien", 'm\u00fcller'],
    account: ['bio', 'proj_genome'],
    filesystem: ['scratch'],
  })
  const ana = r.name('user', 'ana')
  const bio = r.name('account', 'bio')

  it.each([
    ['in capitals', "ANA, Wei-Lin, O'BRIEN, Proj_Genome", /ana|wei-lin|brien|genome/i],
    ['between underscores', 'ana_ckpt run_ana x_ana_7 bio_x', /ana|bio/i],
    ['of letters put together otherwise', 'M\u00dcLLER mu\u0308ller MU\u0308LLER', /m(?:\u00fc|u\u0308)ller/i],
    ['as a target in capitals', 'SCRATCH-OST0003', /scratch/i],
    ['in a link', 'file%3A%2F%2Fo%27brien', /brien/],
  ])('%s', (_, text, secret) => {
    expect(text).toMatch(secret)
    expect(r.text(text)).not.toMatch(secret)
    expect(r.text(r.text(text))).toBe(r.text(text))
  })

  it('gets the same pseudonym', () => {
    expect(r.text('run_Ana of Bio_x')).toBe(`run_${ana} of ${bio}_x`)
  })

  it('two users whose names differ in capitals alone are two', () => {
    const two = redactorOf({ user: ['Kim', 'kim'] })
    expect(two.text('Kim kim')).toBe(`${two.name('user', 'Kim')} ${two.name('user', 'kim')}`)
    expect(two.name('user', 'Kim')).not.toBe(two.name('user', 'kim'))
  })

  it('users called io, min, R and rpc wreck no parameter of Lustre', () => {
    const odd = redactorOf({ user: ['io', 'job', 'R', 'max', 'rpc', 'Read', 'lru', 'ab', 'pd', 'sl'], rule: ['x_y'] })
    const sent = 'lctl set_param osc.*.max_rpcs_in_flight=8 lru_size ost.OSS.ost_io.nrs_policies read_bytes RPC'
    expect(odd.text(sent)).toBe(sent)
    expect(odd.name('rule', 'x_y')).toMatch(/^r_/)
  })
})

describe('exploit: a number that identifies a user', () => {
  const r = redactorOf({})

  it('of a user behind uid, as in the conditions of a rule; figures and root stay', () => {
    const id = /uid=\{(\d+)\}/.exec(r.conditions('uid={1021}'))?.[1] ?? ''
    expect(r.text('uid=1021, UID 1021, gid: 1021, uid=0, 1021 RPC/s')).toBe(
      `uid=${id}, UID ${id}, gid: ${id}, uid=0, 1021 RPC/s`,
    )
  })

  it('of a client, in the name of a parameter', () => {
    expect(r.text('obdfilter.x-OST0000.exports.10.9.8.7@o2ib.stats 2.15.8 1.2.3.4.5')).not.toContain('10.9.8.7')
  })
})
