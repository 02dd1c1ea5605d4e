import fc from 'fast-check'
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { resolveEndpoint, type EndpointOverrides } from './config.ts'
import { scratch } from '#tests/kits/electron/ssh/sshd.ts'

const home = scratch()
mkdirSync(join(home, '.ssh'))

function follow(text: string, name: string, over: EndpointOverrides = {}) {
  const file = join(home, '.ssh/config')
  writeFileSync(file, text, { mode: 0o600 })
  return resolveEndpoint(name, { file, home, user: 'me' }, over)
}

function endpoint(text: string, name: string, over: EndpointOverrides = {}) {
  const r = follow(text, name, over)
  if (!r.ok) throw new Error(`${r.error.code}: ${r.error.what}`)
  return r.value.endpoint
}

const ignored = (text: string, name: string): string[] => {
  const r = follow(text, name)
  return r.ok ? r.value.ignored.map((i) => i.setting) : [r.error.code]
}

describe('a name of ~/.ssh/config', () => {
  it('agrees with ssh -G', () => {
    const keywords = fc.constantFrom(
      'HostName h%h.org',
      'HostName 10.1.2.3',
      'User ann',
      'User bob',
      'Port 2201',
      'Port 99',
      'IdentitiesOnly yes',
      'IdentitiesOnly no',
    )
    const pattern = fc.constantFrom('*', 'oss?', 'o*', '!oss1', 'mds1', 'oss1', '?ss*', '!o*')
    const block = fc.record({
      patterns: fc.array(pattern, { minLength: 1, maxLength: 3 }),
      settings: fc.array(keywords, { maxLength: 4 }),
    })
    const name = fc.constantFrom('oss1', 'oss2', 'mds1', 'x')
    const cases = fc.sample(fc.tuple(fc.array(block, { maxLength: 4 }), name), 60).map(([blocks, host]) => ({
      host,
      text: blocks
        .map((b) => [`Host ${b.patterns.join(' ')}`, ...b.settings.map((s) => `  ${s}`)].join('\n'))
        .join('\n'),
    }))
    const folder = scratch()
    cases.forEach(({ text }, i) => writeFileSync(join(folder, String(i)), text, { mode: 0o600 }))
    // One shell for all cases.
    const script = cases.map(({ host }, i) => `ssh -G -F '${join(folder, String(i))}' ${host}; echo END`).join('\n')
    const answers = execFileSync('/bin/sh', ['-c', script], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
      .split('END\n')
      .slice(0, -1)
    expect(answers).toHaveLength(60)
    cases.forEach(({ host, text }, i) => {
      const managed = endpoint(text, host)
      const value = (key: string) => new RegExp(`^${key} (.*)$`, 'm').exec(answers[i] ?? '')?.[1]
      expect(`${managed.host} ${managed.port} ${managed.identitiesOnly ? 'yes' : 'no'}`, `${host} of\n${text}`).toBe(
        `${value('hostname')} ${value('port')} ${value('identitiesonly')}`,
      )
      if (/User/.test(text) && value('user') !== 'root') {
        expect(managed.user, `${host} of\n${text}`).toBe(value('user'))
      }
    })
  })
})

describe('a hostile config', () => {
  it('includes plain files to a bounded depth: no FIFO, no device, no circle', () => {
    mkdirSync(join(home, '.ssh/d'), { recursive: true })
    writeFileSync(join(home, '.ssh/d/1'), 'Host b\n User wrong\nHost a\n User included', { mode: 0o600 })
    writeFileSync(join(home, '.ssh/d/2'), 'Port 77', { mode: 0o600 })
    execFileSync('mkfifo', [join(home, '.ssh/fifo')])
    const text =
      'Include fifo /dev/zero /nowhere\nInclude config\nInclude d/*\nHost b\n Include /etc/nothing\nHost *\n User late'
    expect(endpoint(text, 'a')).toMatchObject({ user: 'included', port: 77 })
    expect(ignored(text, 'a')).toEqual(expect.arrayContaining(['file', 'Include']))
  })
})
