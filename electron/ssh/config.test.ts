import fc from 'fast-check'
import { chmodSync, existsSync, mkdirSync, writeFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { anyCharacter } from '../../tests/any-character.ts'
import { resolveEndpoint, type EndpointOverrides } from './config.ts'
import { isHostName, isUserName } from './names.ts'
import { matchesList, matchesPattern } from './patterns.ts'

const home = mkdtempSync(join(tmpdir(), 'sluice-config-'))
afterAll(() => rmSync(home, { recursive: true }))
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
  it('is a host by itself without settings', () => {
    expect(endpoint('', 'oss1')).toEqual({
      host: 'oss1',
      port: 22,
      user: 'me',
      identities: ['id_ed25519', 'id_ecdsa', 'id_rsa'].map((f) => join(home, '.ssh', f)),
      identitiesOnly: false,
      knownHosts: [],
      jumps: [],
    })
  })

  it('takes the first value of each setting, and every identity', () => {
    const text = `
      # comment
      Host oss* !oss9
        HostName %h.example.org
        Port=2222
        User "ops"
        IdentityFile ~/.ssh/oss key
      Host *
        Port 22
        User nobody
        IdentityFile %d/.ssh/%r@%h
        IdentitiesOnly yes
        UserKnownHostsFile ~/.ssh/kh1 "/etc/known hosts" none`
    expect(endpoint(text, 'oss1')).toMatchObject({
      host: 'oss1.example.org',
      port: 2222,
      user: 'ops',
      identitiesOnly: true,
      identities: [join(home, '.ssh/oss key'), join(home, '.ssh/ops@oss1.example.org')],
      knownHosts: [
        { path: join(home, '.ssh/kh1'), isRequired: false },
        { path: '/etc/known hosts', isRequired: false },
      ],
    })
    expect(endpoint(text, 'oss9')).toMatchObject({ host: 'oss9', port: 22, user: 'nobody' })
    expect(endpoint(text, 'oss1', { user: 'x', port: 7, identity: '/k' })).toMatchObject({
      user: 'x',
      port: 7,
      identities: ['/k', expect.anything(), expect.anything()],
    })
  })

  it('goes through several jumps, each with its own settings; only the first may have jumps of its own', () => {
    const text = `
      Host outer
        HostName gate.example.org
        User gate
      Host inner
        HostName 10.0.0.1
        Port 2022
        ProxyJump outer
      Host mds1
        ProxyJump inner,ops@second:23
      Host second
        ProxyJump nowhere`
    const { jumps } = endpoint(text, 'mds1')
    expect(jumps.map((j) => `${j.user}@${j.host}:${j.port}`)).toEqual([
      'gate@gate.example.org:22',
      'me@10.0.0.1:2022',
      'ops@second:23',
    ])
    expect(endpoint(text, 'mds1', { jump: null }).jumps).toEqual([])
    expect(endpoint(text, 'mds1', { jump: 'outer' }).jumps).toHaveLength(1)
    expect(endpoint('Host a\n ProxyJump none\nHost *\n ProxyJump b', 'a').jumps).toEqual([])
  })

  it('refuses jumps in a circle', () => {
    for (const text of [
      'Host *\n ProxyJump gate',
      'Host a\n ProxyJump b\nHost b\n ProxyJump a',
      `Host *\n ProxyJump ${'a,'.repeat(12)}a`,
    ]) {
      expect(follow(text, 'a')).toMatchObject({ ok: false, error: { code: 'SSH_CONFIG' } })
    }
  })
})

describe('a hostile config', () => {
  const bomb = join(home, 'ran')
  const attacks: [string, string, string][] = [
    ['Match exec', `Match exec "touch ${bomb}"\n  User evil`, 'match'],
    ['Match host with exec', `Match host a exec "touch ${bomb}"\n  User evil`, 'match'],
    ['ProxyCommand', `Host *\n ProxyCommand touch ${bomb}`, 'proxycommand'],
    ['KnownHostsCommand', `Host *\n KnownHostsCommand /usr/bin/touch ${bomb}`, 'knownhostscommand'],
    ['LocalCommand', `Host *\n PermitLocalCommand yes\n LocalCommand touch ${bomb}`, 'localcommand'],
    ['PKCS11Provider', 'Host *\n PKCS11Provider /tmp/evil.so', 'pkcs11provider'],
    ['CanonicalizeHostname', 'Host *\n CanonicalizeHostname yes\n CanonicalDomains evil.org', 'canonicalizehostname'],
    ['ForwardAgent', 'Host *\n ForwardAgent yes', 'forwardagent'],
    ['StrictHostKeyChecking no', 'Host *\n StrictHostKeyChecking no', 'stricthostkeychecking'],
    ['GlobalKnownHostsFile', 'Host *\n GlobalKnownHostsFile /tmp/evil', 'globalknownhostsfile'],
  ]
  it.each(attacks)('with %s is reported, and nothing is run', (_, text, setting) => {
    expect(ignored(text, 'a')).toContain(setting)
    expect(endpoint(text, 'a')).toMatchObject({ host: 'a', user: 'me', jumps: [] })
    expect(existsSync(bomb)).toBe(false)
  })

  it.each([
    ['a host with a command in it', 'Host a\n HostName $(touch x)'],
    ['a host that is an option', 'Host a\n HostName -oProxyCommand=id'],
    ['a host with a path', 'Host a\n HostName ../../etc'],
    ['a host with a token that is not filled in', 'Host a\n HostName %l'],
    ['a user with a quote', `Host a\n User x';id;'`],
    ['a user that is an option', 'Host a\n User -x'],
    ['a port that is none', 'Host a\n Port 22;id'],
    ['a jump with a command', 'Host a\n ProxyJump x;id'],
    ['a jump that is an option', 'Host a\n ProxyJump -x'],
    ['a jump with a port that is none', 'Host a\n ProxyJump b:99999'],
  ])('with %s is refused', (_, text) => {
    expect(follow(text, 'a').ok).toBe(false)
  })

  it('names itself only by what a name may hold', () => {
    for (const name of [
      '',
      '-a',
      '.',
      '..',
      '.a',
      'a b',
      'a;b',
      'a$b',
      'a`b',
      'a\nb',
      'ä',
      '%h',
      'a/b',
      'a:1',
      'x'.repeat(254),
    ]) {
      expect(follow('', name)).toMatchObject({ ok: false, error: { code: 'SSH_NAME' } })
    }
  })

  it('with identities outside of what a path may be has none of them', () => {
    const text =
      'Host a\n IdentityFile key\n IdentityFile ~root/key\n IdentityFile %k\n IdentityFile ${HOME}/k\n IdentityFile /good'
    expect(endpoint(text, 'a').identities).toEqual(['/good'])
    expect(ignored(text, 'a').filter((s) => s === 'identityfile')).toHaveLength(4)
  })

  it('costs only the lines that make no sense', () => {
    const text = 'Host a\n  Port\n User ok\n "quote\n IdentityFile "open\n HostName good.org\n = \n' + 'x'.repeat(9000)
    expect(endpoint(text, 'a')).toMatchObject({ user: 'ok', host: 'good.org', port: 22 })
    expect(ignored(text, 'a').length).toBeGreaterThan(3)
  })

  it('that others may write is not read', () => {
    const file = join(home, '.ssh/open')
    writeFileSync(file, 'Host a\n User evil')
    chmodSync(file, 0o666)
    const r = resolveEndpoint('a', { file, home, user: 'me' })
    expect(r).toMatchObject({ ok: true, value: { endpoint: { user: 'me' }, ignored: [{ setting: 'file' }] } })
  })

  it('of any bytes neither throws nor yields an invalid name', () => {
    const line = fc.oneof(
      fc.string({ unit: anyCharacter, maxLength: 40 }),
      fc.constantFrom('Host a', 'HostName ', 'User "', 'ProxyJump ', 'Match ', 'Include '),
    )
    fc.assert(
      fc.property(fc.array(line, { maxLength: 8 }), (lines) => {
        const r = follow(lines.join('\n'), 'a')
        if (!r.ok) return
        for (const e of [...r.value.endpoint.jumps, r.value.endpoint]) {
          expect([isHostName(e.host), isUserName(e.user), e.port > 0 && e.port < 65536]).toEqual([true, true, true])
        }
      }),
      { numRuns: 300 },
    )
  })
})

describe('patterns', () => {
  it('match as documented', () => {
    expect(matchesPattern('*.co.uk', 'a.co.uk')).toBe(true)
    expect(matchesPattern('192.168.0.?', '192.168.0.1')).toBe(true)
    expect(matchesPattern('192.168.0.?', '192.168.0.')).toBe(false)
    expect(matchesPattern('a.c', 'abc')).toBe(false)
    expect(matchesList(['*', '!a*'], 'ab')).toBe('negated')
    expect(matchesList(['!b'], 'a')).toBe('no')
  })

  it('that would stop a backtracking matcher end at once', () => {
    expect(matchesPattern('*a'.repeat(2000) + 'b', 'a'.repeat(4000))).toBe(false)
  })
})
