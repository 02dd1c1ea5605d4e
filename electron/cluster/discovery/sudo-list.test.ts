import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyCharacter } from '../../../tests/any-character.ts'
import { READINGS, sudoersArgs } from './readings.ts'
import { matchesSudoPattern, isGranted } from '../remote/sudo-grants.ts'
import { parseSudoList, scopeOf, scopeOfRefusal } from './sudo-list.ts'

// Output of sudo 1.9.13; versions before 1.8.20 and of CentOS 7 have the same entries under other headings.
const listing = (...entries: readonly string[]): string =>
  `Matching Defaults entries for ops on oss01:
    env_reset, mail_badpass, secure_path=/usr/local/sbin\\:/usr/local/bin\\:/usr/sbin\\:/usr/bin\\:/sbin\\:/bin, use_pty

User ops may run the following commands on oss01:
${entries.map((e) => `    ${e}\n`).join('')}`

const scope = (...entries: readonly string[]) => scopeOf(parseSudoList(listing(...entries)))

// Wrapped at 80 columns, as sudo does unless its output is a pipe.
const WRAPPED = `Matching Defaults entries for sluice on oss01:
    env_reset, mail_badpass,
    secure_path=/usr/local/sbin\\:/usr/local/bin\\:/usr/sbin\\:/usr/bin\\:/sbin\\:/bin,
    use_pty, syslog=authpriv, syslog_goodpri=info, !requiretty

Runas and Command-specific defaults for sluice:
    Defaults!/usr/local/sbin/sluice-rule syslog=authpriv, syslog_goodpri=notice

User sluice may run the following commands on oss01:
    (root) NOPASSWD: /usr/sbin/lctl dl, /usr/sbin/lctl get_param -n version,
        /usr/sbin/lctl get_param version, /usr/sbin/lctl get_param
        health_check, /usr/sbin/lctl get_param
        obdfilter.\\*.job_stats ost.OSS.ost_io.nrs_policies
        ost.OSS.ost_io.nrs_tbf_rule, /usr/sbin/lctl get_param
        ldlm.namespaces.{filter\\,mdt}-\\*_UUID.pool.{granted\\,grant_rate}
    (root) NOPASSWD: /usr/local/sbin/sluice-rule
`

describe('the listing of sudo', () => {
  it('of the samples, wrapped at 80 columns, is reading of listed parameters, and rules through the helper', () => {
    const { grants, ...s } = scopeOf(parseSudoList(WRAPPED))
    expect(s).toEqual({
      kind: 'write',
      text: 'lctl get_param of listed parameters; rules through /usr/local/sbin/sluice-rule',
      watch: '',
      hasHelper: true,
      helper: '/usr/local/sbin/sluice-rule',
      lctl: '/usr/sbin/lctl',
    })
    expect(grants).toHaveLength(7)
    const can = (...args: readonly string[]): boolean => isGranted(grants, '/usr/sbin/lctl', args)
    expect(
      can('get_param', 'obdfilter.*.job_stats', 'ost.OSS.ost_io.nrs_policies', 'ost.OSS.ost_io.nrs_tbf_rule'),
    ).toBe(true)
    expect(can('get_param', 'ldlm.namespaces.{filter,mdt}-*_UUID.pool.{granted,grant_rate}')).toBe(true)
    expect(
      can('get_param', 'obdfilter.x.job_stats', 'ost.OSS.ost_io.nrs_policies', 'ost.OSS.ost_io.nrs_tbf_rule'),
    ).toBe(false)
    expect(can('get_param')).toBe(false)
  })

  it.each([
    ['(ALL : ALL) NOPASSWD: ALL', 'broad', /any command, without/],
    ['(ALL) NOPASSWD: ALL', 'broad', /any command, without/],
    ['(root) NOPASSWD: /usr/sbin/lctl, PASSWD: /usr/bin/id', 'broad', /any command of lctl/],
    ['(root) NOPASSWD: /usr/sbin/lctl *', 'broad', /any command of lctl/],
    ['(root) NOPASSWD: /usr/sbin/', 'broad', /any command of lctl/],
    [
      '(root) NOPASSWD: /usr/sbin/lctl get_param *, /usr/sbin/lctl set_param *',
      'broad',
      /any parameter may be written/,
    ],
    ['(root) NOPASSWD: /bin/bash', 'broad', /bash can run any/],
    ['(root) CWD=/tmp TIMEOUT=10 NOPASSWD: NOEXEC: LOG_OUTPUT: /usr/sbin/lctl', 'broad', /any command of lctl/],
    ['(root) NOPASSWD: /usr/sbin/lctl get_param *, !/usr/sbin/lctl set_param *', 'read', /of any parameter/],
    ['(root) NOPASSWD: /usr/sbin/lctl get_param obdfilter.\\*.job_stats', 'read', /of listed parameters/],
    [
      '(root) NOPASSWD: sha256:0123abcd /usr/sbin/lctl get_param obdfilter.\\*.job_stats',
      'read',
      /of listed parameters/,
    ],
    ['(root) NOPASSWD: /usr/sbin/lctl ^get_param( (obdfilter|ost)\\\\.[a-zA-Z_.*]+)+$', 'read', /of listed parameters/],
    [
      '(root) NOPASSWD: /usr/sbin/lctl get_param ost.OSS.ost_io.nrs_policies, /usr/sbin/lctl set_param ost.OSS.ost_io.nrs_tbf_rule\\=*',
      'write',
      /set_param of rules/,
    ],
    // None of these runs as root without a password.
    ['(ALL) ALL', 'none', /asks for a password/],
    ['(root) /usr/sbin/lctl', 'none', /asks for a password/],
    ['(daemon) NOPASSWD: ALL', 'none', /no reading/],
    ['(ALL, !root) NOPASSWD: ALL', 'none', /no reading/],
    ['(root) NOPASSWD: /usr/sbin/lctl ""', 'none', /no reading/],
    ['(root) NOPASSWD: ALL, !/usr/sbin/lctl, !ALL', 'none', /no reading/],
    ['(root) NOPASSWD: /usr/bin/id', 'none', /no reading/],
    ['(root) NOPASSWD: /usr/local/sbin/sluice-rule', 'none', /no reading/],
  ])('%s is %s', (entry, kind, text) => {
    const s = scope(entry)
    expect(s).toMatchObject({ kind, text: expect.stringMatching(text) as string })
  })

  it('names grants beyond need, and why a wildcard on rules cannot replace the helper', () => {
    expect(scope('(ALL) NOPASSWD: ALL').watch).toMatch(/sample/)
    expect(scope('(root) NOPASSWD: /usr/sbin/lctl get_param *').watch).toMatch(/Any parameter/)
    const wild =
      '(root) NOPASSWD: /usr/sbin/lctl get_param ost.OSS.ost_io.nrs_policies, /usr/sbin/lctl set_param ost.OSS.ost_io.nrs_tbf_rule=*'
    expect(scope(wild).watch).toMatch(/wildcard/)
    const { grants } = scope(wild)
    // Indeed the wildcard grants a second parameter.
    expect(isGranted(grants, '/usr/sbin/lctl', ['set_param', 'ost.OSS.ost_io.nrs_tbf_rule=x', 'jobid_var=y'])).toBe(
      true,
    )
  })

  it('takes authentication that is switched off for this login into account', () => {
    const entry = '(root) /usr/sbin/lctl get_param obdfilter.\\*.job_stats'
    const text = listing(entry)
    expect(scopeOf(parseSudoList(text)).kind).toBe('none')
    expect(scopeOf(parseSudoList(text.replace('use_pty', 'use_pty, !authenticate'))).kind).toBe('read')
  })

  it('of a login in another language is read all the same', () => {
    const text =
      'Der Benutzer ops darf die folgenden Befehle auf oss01 ausführen:\n    (root) NOPASSWD: /usr/sbin/lctl\n'
    expect(scopeOf(parseSudoList(text)).kind).toBe('broad')
  })

  it('with lctl elsewhere names the path that sudoers has', () => {
    expect(scope('(root) NOPASSWD: /opt/lustre/sbin/lctl').lctl).toBe('/opt/lustre/sbin/lctl')
    expect(scope('(root) NOPASSWD: /opt/$(reboot)/lctl').lctl).toBe('/usr/sbin/lctl')
  })

  it.each([
    ['', 'sudo: a password is required', 1, /asks for a password/],
    ['', 'sudo: no tty present and no askpass program specified', 1, /asks for a password/],
    ['', 'sudo: sorry, you must have a tty to run sudo', 1, /requiretty/],
    ['Sorry, user ops may not run sudo on oss01.', '', 1, /grants this login nothing/],
    ['', 'ops is not in the sudoers file.  This incident will be reported.', 1, /grants this login nothing/],
    ['', 'sh: 1: sudo: not found', 127, /there is no sudo/],
    ['', 'sudo: Konto \x1b[31mgesperrt', 1, /^sudo: Konto {2}\[31mgesperrt$/],
    ['', '', 3, /exited with 3/],
  ])('refused with %j %j', (stdout, stderr, code, text) => {
    const s = scopeOfRefusal(stdout, stderr, code)
    expect(s.kind).toBe('none')
    expect(s.text).toMatch(text)
  })
})

describe('patterns of sudoers', () => {
  it('fit what they were made of, and nothing else, where every wildcard is escaped', () => {
    for (const args of READINGS) {
      const text = args.join(' ')
      const pattern = sudoersArgs(args).replace(/\\([,:=])/g, '$1')
      expect(matchesSudoPattern(pattern, text, false), text).toBe(true)
      expect(matchesSudoPattern(pattern, `${text} x`, false), text).toBe(false)
      expect(matchesSudoPattern(pattern, text.replace('*', 'x'), false), text).toBe(!text.includes('*'))
    }
  })

  it('agree with a regular expression of the same meaning', () => {
    const part = fc.constantFrom('a', 'b', '/', '*', '?', '[ab]', '[!a]', '\\*', '.')
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '/', '*', '.'), maxLength: 8 })
    const isPath = fc.boolean()
    fc.assert(
      fc.property(fc.array(part, { maxLength: 7 }), text, isPath, (parts, t, path) => {
        const any = path ? '[^/]' : '[^]'
        const same: Record<string, string> = {
          '*': `${any}*`,
          '?': any,
          '[ab]': '[ab]',
          '[!a]': path ? '[^a/]' : '[^a]',
          '\\*': '\\*',
          '.': '\\.',
        }
        const expression = new RegExp(`^${parts.map((p) => same[p] ?? p).join('')}$`)
        expect(matchesSudoPattern(parts.join(''), t, path)).toBe(expression.test(t))
      }),
      { numRuns: 3000 },
    )
  })

  it('exploit: a pattern made to take for ever is answered at once', () => {
    const grants = parseSudoList(listing(`(root) NOPASSWD: /usr/sbin/lctl ${'*a'.repeat(400)}b`)).grants
    expect(grants).toHaveLength(1)
    expect(isGranted(grants, '/usr/sbin/lctl', ['a'.repeat(5000)])).toBe(false)
  })
})

describe('exploit: sudo whose output is hostile', () => {
  it('any text ends in a scope of bounded size', () => {
    const words = fc.constantFrom(
      '    (root) ',
      'NOPASSWD: ',
      'ALL',
      '/usr/sbin/lctl',
      ' get_param *',
      ', ',
      '\n',
      '        ',
      '!',
      '\\',
      '(',
      ')',
      '\x1b[2J',
      '*',
    )
    fc.assert(
      fc.property(
        fc.array(fc.oneof(words, fc.string({ unit: anyCharacter, maxLength: 5 })), { maxLength: 60 }),
        (parts) => {
          const s = scopeOf(parseSudoList(parts.join('')))
          expect(s.text.length + s.watch.length).toBeLessThan(400)
          expect(s.text).toMatch(/^[\x20-\x7e]+$/)
          expect(s.lctl).toMatch(/^\/[A-Za-z0-9_./-]+$/)
        },
      ),
      { numRuns: 2000 },
    )
  })

  it('a megabyte of entries is cut', () => {
    const s = scopeOf(
      parseSudoList(
        listing(...Array.from({ length: 20_000 }, (_, i) => `(root) NOPASSWD: /usr/sbin/lctl get_param p${i}`)),
      ),
    )
    expect(s.grants.length).toBeLessThanOrEqual(128)
  })
})
