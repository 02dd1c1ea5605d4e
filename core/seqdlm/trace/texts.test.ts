import { describe, expect, it } from 'vitest'
import { Cluster } from '../model/cluster.ts'
import { LockServer } from '../lock-server.ts'
import type { FromLockServer } from '../messages.ts'
import type { LockMode } from '../modes.ts'
import { DLM_BASIC, SEQDLM, type DlmPolicy } from '../policy.ts'
import { lockRange, WHOLE, type LockRange } from '../ranges.ts'
import { LockTrace } from './lock-trace.ts'

/** Sends requests and answers in the given order, one per microsecond; returns the final rule of every life. */
function rulesOf(
  policy: DlmPolicy,
  steps: readonly (
    readonly ['ask', number, LockMode, LockRange?] | readonly ['cancel' | 'release' | 'evict', number]
  )[],
): string[] {
  let at = 0
  const out: { client: number; message: FromLockServer }[] = []
  const trace = new LockTrace({ policy })
  const server = new LockServer({
    policy,
    now: () => at,
    send: (client, message) => void out.push({ client, message }),
    observe: (event) => trace.feed.observe(0, event),
  })
  for (const [i, step] of steps.entries()) {
    at += 1000
    const [what, client] = step
    const grant = out.findLast((o) => o.client === client && o.message.kind === 'lock-grant')?.message
    const lockId = grant?.kind === 'lock-grant' ? grant.lockId : 0
    if (step[0] === 'ask') {
      const range = step[3] ?? WHOLE
      server.receive(client, { kind: 'lock-request', resource: 0, reqId: i + 1, range, mode: step[2] })
    } else if (what === 'evict') server.evict(client)
    else server.receive(client, { kind: what === 'cancel' ? 'revoke-reply' : 'release', resource: 0, lockId })
  }
  return trace.lives(0, 0, at, 100).lives.map((l) => l.rule.replaceAll('\u2009', ' '))
}

describe('the rule of a grant', () => {
  it('is the cell of Table II: nothing there, readers beside readers, early grant over whom', () => {
    expect(rulesOf(SEQDLM, [['ask', 1, 'NBW']])).toEqual(['no unreleased lock overlaps'])
    expect(
      rulesOf(SEQDLM, [
        ['ask', 1, 'PR'],
        ['ask', 2, 'PR'],
      ]),
    ).toEqual(['no unreleased lock overlaps', 'Lock compatibility, PR beside PR: yes'])
    expect(
      rulesOf(SEQDLM, [
        ['ask', 1, 'NBW'],
        ['ask', 2, 'NBW'],
        ['cancel', 1],
        ['cancel', 2],
        ['ask', 3, 'BW'],
      ]),
    ).toEqual([
      'no unreleased lock overlaps',
      'Lock compatibility, NBW beside canceling NBW: yes (early grant over #1)',
      'Lock compatibility, BW beside canceling NBW: yes (early grant over #1, #2)',
    ])
  })

  it('is the release of all conflicting locks, with their modes', () => {
    expect(
      rulesOf(SEQDLM, [
        ['ask', 1, 'NBW'],
        ['ask', 2, 'PR'],
        ['cancel', 1],
        ['release', 1],
      ])[1],
    ).toBe('every conflicting lock is released (PR beside NBW: no)')
    expect(
      rulesOf(DLM_BASIC, [
        ['ask', 1, 'PW'],
        ['ask', 2, 'PW'],
        ['cancel', 1],
        ['release', 1],
      ])[1],
    ).toBe('every conflicting lock is released (PW beside PW: no)')
    expect(
      rulesOf(SEQDLM, [
        ['ask', 1, 'PW'],
        ['ask', 2, 'PR'],
        ['evict', 1],
      ])[1],
    ).toBe('every conflicting lock is released or evicted (PR beside PW: no)')
  })

  it('includes the locks that it merged with', () => {
    const page = lockRange(0, 4095)
    const narrow = { ...SEQDLM, expand: false }
    expect(
      rulesOf(narrow, [
        ['ask', 1, 'NBW', page],
        ['ask', 1, 'BW', lockRange(0, 8191)],
      ])[1],
    ).toBe('merged with own #1: NBW + BW gives BW (Fig. 9); no unreleased lock overlaps')
    expect(
      rulesOf(SEQDLM, [
        ['ask', 1, 'PR', page],
        ['ask', 1, 'NBW', page],
      ])[1],
    ).toBe('merged with own PR: PR + NBW gives PW (Fig. 9); no unreleased lock overlaps')
  })

  it('says for whom a lock is granted as canceling', () => {
    const rules = rulesOf(SEQDLM, [
      ['ask', 1, 'NBW'],
      ['ask', 2, 'NBW'],
      ['ask', 3, 'PR'],
      ['cancel', 1],
    ])
    expect(rules[1]).toBe(
      'Lock compatibility, NBW beside canceling NBW: yes (early grant over #1); ' +
        'granted as canceling: could not expand, PR of client 3 waits (early revocation)',
    )
    expect(rules[2]).toBe('')
  })
})

describe('messages of a cluster at work', () => {
  const trace = new LockTrace()
  const { feed } = trace
  const cluster = new Cluster({
    policy: SEQDLM,
    clients: 6,
    servers: 2,
    seed: 5,
    pages: 'hot',
    observe: feed.observe,
    messages: feed,
  })
  const file = { base: 0, stripes: 2, stripeSize: 1 << 16 }
  let written = 0
  for (const [c, client] of cluster.clients.entries()) {
    let remaining = 20
    const next = (): void => {
      if (remaining-- === 0) client.fsync(file, () => undefined)
      else if (remaining % 6 === 0) client.read(file, 0, 4096, {}, next)
      else {
        client.write(file, (remaining * 6 + c) * 47_008, 47_008, {}, (done) => {
          for (const p of done.ok ? done.value.parts : []) {
            feed.wrote(p.resource, p.sn, p.end - p.start)
            written += p.end - p.start
          }
          next()
        })
      }
    }
    cluster.sim.at(c * 1000, next)
  }
  cluster.sim.runUntil(Infinity)
  const end = cluster.sim.now
  const lives = [0, 1].flatMap((r) => trace.lives(r, 0, end, 1e6).lives)
  const messages = [0, 1].flatMap((r) => trace.messages(r, 0, end, 1e6).messages)

  it('are all reported, with their lives', () => {
    for (const m of messages) {
      expect(m.arrivedNs).toBeGreaterThan(m.sentNs)
      expect(m.text).not.toBe('')
      if (m.kind === 'size-request' || m.kind === 'size-reply') continue
      const life = lives.find((l) => l.id === m.life && l.resource === m.resource)
      expect(life, `${m.kind} ${m.text}`).toMatchObject({ client: m.client })
    }
    const kinds = new Set(messages.map((m) => m.kind))
    for (const kind of ['lock-request', 'lock-grant', 'revoke', 'revoke-reply', 'downgrade', 'release'] as const) {
      expect(kinds).toContain(kind)
    }
    for (const kind of ['flush-request', 'flush-reply', 'read-request', 'read-reply'] as const)
      expect(kinds).toContain(kind)
    expect(messages.filter((m) => m.kind === 'lock-request')).toHaveLength(lives.length)
  })

  it('account for every byte that was written, by sequence number', () => {
    expect(lives.reduce((sum, l) => sum + l.writtenBytes, 0)).toBe(written)
    expect(lives.reduce((sum, l) => sum + l.bytes, 0)).toBe(written)
    for (const l of lives) {
      expect(l.bytes).toBe(l.writtenBytes)
      if (l.bytes > 0 && l.ending === 'released') expect(l.dataNs).toBeLessThan(l.endedNs!)
    }
  })

  it('do not name a lock before it was asked for, nor an arrival before it came', () => {
    const request = messages.find((m) => m.kind === 'lock-request' && m.sentNs > 0)!
    const then = trace.messages(request.resource, request.sentNs, request.sentNs, 100).messages
    expect(then.find((m) => m.client === request.client)).toMatchObject({ life: undefined, arrivedNs: undefined })
  })

  it('have a readable text', () => {
    const texts = messages.map((m) => m.text.replaceAll('\u2009', ' '))
    expect(texts.find((t) => /^requests BW \d[\d ]* \.\. [\d ]+$/.test(t))).toBeDefined()
    expect(texts.find((t) => /^grants #[\d ]+ N?BW [\d ]+ \.\. ([\d ]+|end), early/.test(t))).toBeDefined()
    expect(texts.find((t) => /^downgrades #[\d ]+ BW to NBW$/.test(t))).toBeDefined()
    expect(texts.find((t) => /^flushes [\d ]+ bytes of #[\d ]+/.test(t))).toBeDefined()
    expect(texts.find((t) => /^reads 0 \.\. 4 095$/.test(t))).toBeDefined()
  })
})
