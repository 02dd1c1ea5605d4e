import fc from 'fast-check'
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fingerprintOf, parseHostKey } from './host-key.ts'
import { knownKeysIn } from './known-hosts.ts'
import { makeKey, noSshd, publicHalf, scratch, fingerprint } from '#tests/kits/electron/ssh/sshd.ts'
import type { Verdict } from './host-key-report.ts'
import { HostKeys } from './verdict.ts'

describe.skipIf(noSshd !== '')('known_hosts', () => {
  const folder = scratch()
  const [one, two, rsa, small] =
    noSshd === ''
      ? [
          makeKey(join(folder, 'one')),
          makeKey(join(folder, 'two')),
          makeKey(join(folder, 'rsa'), 'rsa', '', 2048),
          makeKey(join(folder, 'small'), 'rsa', '', 1024),
        ]
      : ['', '', '', '']
  const blob = (file: string): Buffer => Buffer.from(publicHalf(file).split(' ')[1] ?? '', 'base64')
  const file = join(folder, 'known_hosts')

  function verdict(text: string, key = one, host = 'oss1', port = 22, trusted: string[] = []): Verdict {
    writeFileSync(file, text)
    return new HostKeys({ knownHosts: [{ path: file, isRequired: true }], trusted }).judge(host, port, blob(key))
      .verdict
  }

  const line = (names: string, key: string, marker = ''): string => `${marker}${names} ${publicHalf(key)} a comment\n`

  it('hashed by ssh-keygen -H', () => {
    writeFileSync(file, line('oss1', one) + line('[oss2]:2222', two))
    execFileSync('ssh-keygen', ['-q', '-H', '-f', file], { stdio: 'ignore' })
    const text = readFileSync(file, 'latin1')
    expect(text).not.toContain('oss1')
    expect(verdict(text)).toBe('match')
    expect(verdict(text, two)).toBe('changed')
    expect(verdict(text, two, 'oss2', 2222)).toBe('match')
    expect(verdict(text, one, 'oss3')).toBe('unknown')
  })

  it('finds the lines that ssh-keygen -F finds', () => {
    const name = fc.constantFrom(
      'oss1',
      'oss2',
      '[oss1]:2222',
      'OSS1',
      'oss*',
      '!oss1',
      '*',
      '!*2',
      '[oss?]:2222',
      '?ss1',
      '10.0.0.1',
    )
    const entry = fc.record({ names: fc.array(name, { minLength: 1, maxLength: 3 }), isOne: fc.boolean() })
    const cases = fc.sample(fc.record({ entries: fc.array(entry, { maxLength: 6 }), isHashed: fc.boolean() }), 80)
    const requests: [string, number][] = [
      ['oss1', 22],
      ['oss2', 22],
      ['oss1', 2222],
      ['oss2', 2222],
      ['10.0.0.1', 22],
    ]
    // Lines are independent of each other: all cases are lines of two files, and each host is looked up once.
    for (const isHashed of [false, true]) {
      const entries = cases.filter((c) => c.isHashed === isHashed).flatMap((c) => c.entries)
      expect(entries.length).toBeGreaterThan(40)
      writeFileSync(file, entries.map((e) => line(e.names.join(','), e.isOne ? one : two)).join(''))
      // Its exit code depends on the wildcards.
      if (isHashed) spawnSync('ssh-keygen', ['-q', '-H', '-f', file], { stdio: 'ignore' })
      const text = readFileSync(file, 'latin1')
      expect(text.includes('|1|')).toBe(isHashed)
      const lines = text.split('\n')
      const named = (numbers: number[]): string[] => numbers.map((n) => `line ${n}: ${lines[n - 1]}`)
      for (const [host, port] of requests) {
        const found = spawnSync('ssh-keygen', ['-F', port === 22 ? host : `[${host}]:${port}`, '-f', file], {
          encoding: 'utf8',
        })
        const theirs = [...found.stdout.matchAll(/found: line (\d+)/g)].map((m) => Number(m[1]))
        const managed = knownKeysIn(text, 'f', host, port).keys.map((k) => Number(k.where.slice(2)))
        expect(theirs.length).toBeGreaterThan(0)
        expect(named(managed), `${host} ${port}`).toEqual(named(theirs))
      }
    }
  })

  it('prints fingerprints as ssh-keygen -l does', () => {
    for (const key of [one, rsa]) expect(fingerprintOf(blob(key))).toBe(fingerprint(key))
    expect([parseHostKey(blob(rsa))?.bits, parseHostKey(blob(small))?.bits]).toEqual([2048, 1024])
  })
})
