import { describe, expect, it } from 'vitest'
import { Simulation } from '../sim/simulation.ts'
import { EmulatedNode } from './node.ts'
import { matchesGlob } from './shell/match-glob.ts'

const as = (...sudo: string[]) => {
  const node = new EmulatedNode(new Simulation(), { name: 'oss01', roles: ['oss'] })
  const user = { name: 'ops', uid: 1000, sudo }
  return (line: string) => node.exec(line, user)
}
const PASSWORD = { stdout: '', stderr: 'sudo: a password is required\n', code: 1 }

describe('sudo', () => {
  it('runs as root what sudoers has, and asks for a password for everything else', () => {
    const run = as('/usr/bin/id -u', String.raw`/usr/bin/echo a\=\* *`, '/usr/bin/whoami')
    expect(run('sudo -n id -u')).toEqual({ stdout: '0\n', stderr: '', code: 0 })
    expect(run('sudo -n -- /usr/bin/whoami')).toMatchObject({ stdout: 'root\n' })
    expect(run("sudo -n echo 'a=*' b")).toMatchObject({ stdout: 'a=* b\n' })
    for (const line of ['sudo -n id', 'sudo -n id -u x', "sudo -n echo 'a=b' b", 'sudo -n sh -c whoami']) {
      expect(run(line), line).toEqual(PASSWORD)
    }
    expect(run('sudo -n nosuch')).toEqual({ stdout: '', stderr: 'sudo: nosuch: command not found\n', code: 1 })
    expect(run('sudo -u nobody id')).toMatchObject({ code: 1 })
  })

  it('lists what it allows, and nothing where it allows nothing', () => {
    expect(as('/usr/sbin/lctl dl', String.raw`/usr/sbin/lctl get_param a\=b`)('sudo -n -l').stdout).toBe(
      String.raw`Matching Defaults entries for ops on oss01:
    env_reset, mail_badpass, secure_path=/usr/local/sbin\:/usr/local/bin\:/usr/sbin\:/usr/bin\:/sbin\:/bin, use_pty

User ops may run the following commands on oss01:
    (root) NOPASSWD: /usr/sbin/lctl dl, /usr/sbin/lctl get_param a\=b
`,
    )
    expect(as()('sudo -nl')).toEqual(PASSWORD)
    expect(as('ALL')('sudo -n sh -c "id -un; exit 3"')).toMatchObject({ stdout: 'root\n', code: 3 })
    const root = new EmulatedNode(new Simulation(), { name: 'oss01', roles: ['oss'] })
    expect(root.exec('sudo -n id -un').stdout).toBe('root\n')
  })

  it('matches patterns whole, and in time that does not explode', () => {
    expect(matchesGlob('a*b?c', 'a--bXc')).toBe(true)
    expect(matchesGlob('a*b?c', 'a--bc')).toBe(false)
    expect(matchesGlob(String.raw`a\*`, 'a*') && !matchesGlob(String.raw`a\*`, 'ab')).toBe(true)
    expect(matchesGlob(`${'*a'.repeat(200)}b`, 'a'.repeat(5000))).toBe(false)
  })
})

describe('system tools of a node', () => {
  it('answers as the tools of a real machine do', () => {
    const sim = new Simulation()
    const node = new EmulatedNode(sim, { name: 'oss01', roles: ['oss'], epochSeconds: 1_767_225_600 })
    sim.runUntil(1_234_567_890)
    const out = (line: string): string => node.exec(line).stdout
    expect(out('date +%s.%N; date +%s%N; date "+%F %T %z%%"')).toBe(
      '1767225601.234567890\n1767225601234567890\n2026-01-01 00:00:01 +0000%\n',
    )
    expect(out('date')).toBe('Thu Jan  1 00:00:01 UTC 2026\n')
    expect(node.exec('date +%q').code).toBe(1)
    expect(out('uname -sr')).toMatch(/^Linux \d+\.\d+\.\d+-\S+lustre\S+\n$/)
    expect(out('uname -n; nproc')).toBe('oss01\n8\n')
    expect(out('command -v systemd-run; command -v echo; command -v cd')).toBe('/usr/bin/systemd-run\necho\ncd\n')
    for (const name of ['lctl', 'setsid', 'nosuch', 'constructor', '/usr/bin/nosuch', '']) {
      expect(node.exec(`command -v '${name}'`), name).toEqual({ stdout: '', stderr: '', code: 1 })
    }
    expect(node.exec('/usr/bin/id -u; command id -un')).toMatchObject({ stdout: '0\nroot\n' })
    expect(node.exec('kill -s TERM -- -5001')).toMatchObject({ code: 1 })
    expect(node.exec('/usr/bin/cd /')).toMatchObject({ code: 127 })
  })
})
