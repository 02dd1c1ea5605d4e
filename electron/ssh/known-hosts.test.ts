import fc from 'fast-check'
import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { anyCharacter } from '../../tests/any-character.ts'
import { knownKeysIn, readKnownKeys } from './known-hosts.ts'
import { ed25519Key, rsaKey, type TestHostKey } from '../../tests/node/host-key.ts'
import { tempFolder } from '../../tests/node/temp-folder.ts'
import { TrustStore } from './trust-store.ts'
import type { Verdict } from './host-key-report.ts'
import { HostKeys, canPromptToTrust } from './verdict.ts'

describe('known_hosts', () => {
  const folder = tempFolder()
  const one = ed25519Key()
  const two = ed25519Key()
  const rsa = rsaKey(2048)
  const small = rsaKey(1024)
  const file = join(folder, 'known_hosts')

  function verdict(text: string, key = one, host = 'oss1', port = 22, trusted: string[] = []): Verdict {
    writeFileSync(file, text)
    return new HostKeys({ knownHosts: [{ path: file, isRequired: true }], trusted }).judge(host, port, key.blob).verdict
  }

  const line = (names: string, key: TestHostKey, marker = ''): string => `${marker}${names} ${key.line} a comment\n`

  it.each<[string, () => Verdict, Verdict]>([
    ['a plain line', () => verdict(line('oss1', one)), 'match'],
    ['a list of names', () => verdict(line('x,oss1,10.0.0.1', one)), 'match'],
    ['upper case', () => verdict(line('OSS1', one), one, 'Oss1'), 'match'],
    ['a wildcard', () => verdict(line('oss?', one)), 'match'],
    ['a negated wildcard', () => verdict(line('oss?,!oss1', one)), 'unknown'],
    ['another host', () => verdict(line('oss2', one)), 'unknown'],
    ['nothing', () => verdict(''), 'unknown'],
    ['another port', () => verdict(line('oss1', one), one, 'oss1', 2222), 'unknown'],
    ['[host]:port', () => verdict(line('[oss1]:2222', one), one, 'oss1', 2222), 'match'],
    ['[host]:port for port 22', () => verdict(line('[oss1]:2222', one)), 'unknown'],
    ['another key of this type', () => verdict(line('oss1', two)), 'changed'],
    ['the same key on a later line', () => verdict(line('oss1', two) + line('oss1', one)), 'match'],
    ['a key of another type only', () => verdict(line('oss1', rsa)), 'other-type'],
    ['a revoked key', () => verdict(line('oss1', one) + line('*', one, '@revoked ')), 'revoked'],
    ['another revoked key', () => verdict(line('oss1', one) + line('*', two, '@revoked ')), 'match'],
    ['a certificate authority', () => verdict(line('oss1', one, '@cert-authority ')), 'unknown'],
    ['a marker that is not known', () => verdict(line('oss1', one, '@trust-me ')), 'unknown'],
    ['a type that is not the key’s', () => verdict(line('oss1', one).replace('ssh-ed25519', 'ssh-rsa')), 'unknown'],
    ['a key cut short', () => verdict(`oss1 ssh-ed25519 AAAA\n`), 'unknown'],
    ['a revocation cut short', () => verdict(line('oss1', one) + '@revoked oss1 ssh-ed25519 AAAA\n'), 'unreadable'],
    ['a revocation without a key', () => verdict(line('oss1', one) + '@revoked oss1\n'), 'unreadable'],
    ['a line without end', () => verdict(line('oss1', one) + 'x'.repeat(40_000)), 'unreadable'],
    ['RSA of 1024 bits', () => verdict(line('oss1', small), small), 'weak'],
    ['RSA of 2048 bits', () => verdict(line('oss1', rsa), rsa), 'match'],
    ['a key trusted for this run', () => verdict('', one, 'oss1', 22, [one.fingerprint]), 'match'],
    [
      'a changed key trusted for this run',
      () => verdict(line('oss1', two), one, 'oss1', 22, [one.fingerprint]),
      'changed',
    ],
    [
      'a revoked key trusted for this run',
      () => verdict(line('*', one, '@revoked '), one, 'oss1', 22, [one.fingerprint]),
      'revoked',
    ],
  ])('with %s', (_, judge, wanted) => {
    expect(judge()).toBe(wanted)
  })

  it('that cannot be read closes the door: a folder, a file in the way, a file that was named and is not there', () => {
    mkdirSync(join(folder, 'folder'), { recursive: true })
    for (const path of [join(folder, 'folder'), join(file, 'below'), join(folder, 'missing')]) {
      const keys = new HostKeys({ knownHosts: [{ path, isRequired: true }], trusted: [one.fingerprint] })
      expect(keys.judge('oss1', 22, one.blob)).toMatchObject({ verdict: 'unreadable' })
    }
    const absent = new HostKeys({ knownHosts: [{ path: join(folder, 'missing'), isRequired: false }] })
    expect(absent.judge('oss1', 22, one.blob).verdict).toBe('unknown')
  })

  it('of any bytes neither throws nor knows a host that it does not name', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 300 }), (text) => {
        const known = knownKeysIn(text, 'f', 'oss1', 22)
        expect(known.keys.filter((k) => k.kind === 'key')).toEqual([])
      }),
    )
  })

  it('is not written by anything here', () => {
    writeFileSync(file, line('oss1', one))
    const before = statSync(file).mtimeMs
    readKnownKeys([{ path: file, isRequired: true }], 'oss1', 22)
    verdict(readFileSync(file, 'latin1'))
    expect(readFileSync(file, 'latin1')).toBe(line('oss1', one))
    expect(statSync(file).mtimeMs).toBeGreaterThanOrEqual(before)
  })

  describe('the trust store', () => {
    const path = join(folder, 'store/trust.json')
    const store = new TrustStore(path)
    const keys = (): HostKeys => new HostKeys({ knownHosts: [], store })

    it('keeps a key by host, port and type, for its owner only', () => {
      const first = keys().judge('oss1', 2222, one.blob)
      expect([first.verdict, canPromptToTrust(first)]).toEqual(['unknown', true])
      expect(store.trust('oss1', 2222, first.type, first.fingerprint, 1000).ok).toBe(true)
      expect(statSync(path).mode & 0o777).toBe(0o600)
      expect(keys().judge('OSS1', 2222, one.blob).verdict).toBe('match')
      expect(keys().judge('oss1', 22, one.blob).verdict).toBe('unknown')
      expect(keys().judge('oss1', 2222, two.blob).verdict).toBe('changed')
      expect(keys().judge('oss1', 2222, rsa.blob).verdict).toBe('other-type')
      expect(keys().knownTypes('oss1', 2222)).toEqual(['ssh-ed25519'])
    })

    it('never takes another key in the place of one, however it was shown before', () => {
      const both = [one, two].map((k) => k.fingerprint)
      // Both were shown while nothing was known: the second one by a man in the middle.
      expect(both.map((f) => keys().mayTrust('oss9', 22, 'ssh-ed25519', f))).toEqual([true, true])
      expect(store.trust('oss9', 22, 'ssh-ed25519', one.fingerprint, 1).ok).toBe(true)
      expect(both.map((f) => keys().mayTrust('oss9', 22, 'ssh-ed25519', f))).toEqual([true, false])
      expect(store.trust('oss9', 22, 'ssh-ed25519', two.fingerprint, 2)).toMatchObject({
        error: { code: 'SSH_TRUST_STORE' },
      })
      expect(store.trust('oss9', 22, 'ssh-ed25519', one.fingerprint, 2).ok).toBe(true)
      expect([one, two].map((k) => keys().judge('oss9', 22, k.blob).verdict)).toEqual(['match', 'changed'])
      expect(store.forget('oss9', 22).ok).toBe(true)
    })

    it.each([
      ['another key of this type became known', () => line('oss9', two)],
      ['it was revoked', () => `@revoked ${line('oss9', one)}`],
    ])('a key that was shown is open no longer once %s', (_what, text) => {
      const file = join(folder, 'since')
      writeFileSync(file, text())
      const since = keys().withKnownHosts([{ path: file, isRequired: true }])
      expect(since.mayTrust('oss9', 22, 'ssh-ed25519', one.fingerprint)).toBe(false)
      rmSync(file)
      // With an unreadable source nothing can be ruled out.
      expect(since.mayTrust('oss9', 22, 'ssh-ed25519', one.fingerprint)).toBe(false)
    })

    it('forgets a server on request, and only that one', () => {
      store.trust('oss2', 22, 'ssh-ed25519', two.fingerprint, 1000)
      expect(store.forget('oss1', 2222).ok).toBe(true)
      expect(keys().judge('oss1', 2222, two.blob).verdict).toBe('unknown')
      expect(keys().judge('oss2', 22, two.blob).verdict).toBe('match')
    })

    it('that is damaged, newer, or open to others is refused and left as it is', () => {
      const good = readFileSync(path, 'utf8')
      for (const text of [
        '',
        '{',
        '[]',
        good.replace('"version": 1', '"version": 2'),
        good.replace('SHA256:', 'MD5:'),
        good.slice(0, -9),
      ]) {
        writeFileSync(path, text)
        expect(keys().judge('oss2', 22, two.blob).verdict).toBe('unreadable')
        expect(store.trust('oss3', 22, 'ssh-ed25519', one.fingerprint, 1)).toMatchObject({
          ok: false,
          error: { code: 'SSH_TRUST_STORE' },
        })
        expect(readFileSync(path, 'utf8')).toBe(text)
      }
      writeFileSync(path, good)
      chmodSync(path, 0o622)
      expect(keys().judge('oss2', 22, two.blob).verdict).toBe('unreadable')
      chmodSync(path, 0o600)
      expect(keys().judge('oss2', 22, two.blob).verdict).toBe('match')
    })

    it('accepts no invalid fingerprint', () => {
      for (const bad of ['', 'SHA256:', one.fingerprint + '=', 'MD5:00', '<img src=x>']) {
        expect(store.trust('oss1', 22, 'ssh-ed25519', bad, 1).ok).toBe(false)
      }
    })
  })
})
