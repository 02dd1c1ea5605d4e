import { spawnSync } from 'node:child_process'
/** Shell features around lctl: pipes, redirections, text tools and sudo. */
import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { fail, ok } from '../../base/result.ts'
import { Simulation } from '../../sim/simulation.ts'
import { EmulatedNode } from '../node.ts'
import type { Parameter } from '../parameter.ts'

const RULE = '/sys/kernel/debug/lustre/ost/OSS/ost_io/nrs_tbf_rule'
const NAME = 'ost.OSS.ost_io.nrs_tbf_rule'

function oss(): { node: EmulatedNode; written: string[] } {
  const written: string[] = []
  const file = (path: string, value: string, more: Partial<Parameter> = {}): Parameter => ({
    name: path,
    path,
    tree: path.startsWith('/sys/kernel') ? 'debugfs' : 'sysfs',
    read: () => ok(value),
    ...more,
  })
  const parameters = [
    file('/sys/fs/lustre/version', '2.17.57\n'),
    file('/sys/fs/lustre/jobid_var', 'disable\n', { write: (v) => (written.push(`jobid_var ${v}`), ok(undefined)) }),
    file(RULE, 'regular_requests:\nCPT 0:\nr jobid={a} 5, ref 0\ndefault * 10000, ref 0\n', {
      write: (v) => (v.startsWith('bad') ? fail('EEXIST') : (written.push(v), ok(undefined))),
    }),
    file('/sys/kernel/debug/lustre/x', '', { read: () => fail('ENODEV') }),
    { ...file('/sys/module/ptlrpc/parameters/tbf_rate', '10000\n'), tree: 'module' as const },
    { ...file('/sys/module/ptlrpc/parameters/tbf_depth', '3\n'), tree: 'module' as const },
  ]
  const node = new EmulatedNode(new Simulation(), {
    name: 'oss01',
    roles: ['oss'],
    lustre: { version: '2.17.57', parameters: () => parameters },
  })
  return { node, written }
}

const out = (line: string): string => oss().node.exec(line).stdout

describe('a pipe', () => {
  it('hands stdout on and ends with the last command', () => {
    const { node } = oss()
    expect(node.exec(`lctl get_param -n ${NAME} | grep -c ref`)).toEqual({ stdout: '2\n', stderr: '', code: 0 })
    expect(node.exec(`lctl get_param nosuch | wc -l`)).toEqual({
      stdout: '0\n',
      stderr: "error: get_param: param_path 'nosuch': No such file or directory\n",
      code: 0,
    })
    expect(node.exec('lctl get_param nosuch version 2>&1 | head -1').stdout).toBe(
      "error: get_param: param_path 'nosuch': No such file or directory\n",
    )
    expect(node.exec('lctl get_param version | nosuch')).toEqual({
      stdout: '',
      stderr: 'bash: line 1: nosuch: command not found\n',
      code: 127,
    })
  })
})

describe('a subshell', () => {
  it('answers as a real sh: exit, eval, cd and assignments end with it', () => {
    const { node } = oss()
    const lines = [
      `printf 'a b\\n'; printf err >&2; X=1; cd /; exit 7`,
      '(exit 3); echo $?',
      '(echo a; exit 3; echo b) || echo "<$?>"',
      'false; eval "echo \\$?"; eval exit 4; echo c',
      '(echo a; (echo b >&2; false)) 2>&1 | grep -c . ; echo $?',
      'eval \'echo "a;b"\' c; true && (false) || echo no',
      'exit 2 | true; echo $?',
      "(eval ' exit 9') </dev/null; echo e$?; echo '$?' \\$\\$",
    ]
    for (const line of lines) {
      const real = spawnSync('sh', ['-c', line], { encoding: 'latin1' })
      expect(node.exec(line), line).toEqual({ stdout: real.stdout, stderr: real.stderr, code: real.status })
    }
  })
})

describe('a shell that reads its input', () => {
  it('takes whole commands as they come, and tells them apart as a real sh does', () => {
    const { node } = oss()
    const text =
      "echo a; X=1\nfalse\necho $?\n(eval 'echo \"b\nc\"; exit 5')</dev/null;echo e''x $?;echo e''y 0 >&2\nexit 3\necho no\n"
    const real = spawnSync('sh', [], { input: text, encoding: 'latin1' })
    for (const size of [1, 7, text.length]) {
      const shell = node.inputShell()
      const ran = { stdout: '', stderr: '' }
      for (let at = 0; at < text.length; at += size) {
        const { stdout, stderr } = shell.push(text.slice(at, at + size))
        ran.stdout += stdout
        ran.stderr += stderr
      }
      expect({ ...ran, code: shell.code }).toEqual({ stdout: real.stdout, stderr: real.stderr, code: 3 })
      expect(shell.isOver).toBe(true)
    }
  })

  it('ends with its input, with the exit code of the last command', () => {
    const { node } = oss()
    const shell = node.inputShell()
    shell.push('false\necho left')
    expect(shell.end()).toEqual({ stdout: 'left\n', stderr: '', code: 0 })
    const broken = node.inputShell()
    broken.push("echo 'a\n")
    expect(broken.end()).toMatchObject({ code: 2, stderr: expect.stringContaining('Unterminated') as string })
  })
})

describe('a redirection', () => {
  it('writes into a parameter in one write, newline included', () => {
    const { node, written } = oss()
    expect(node.exec(`echo "start a jobid={b} rate=5" > ${RULE}`)).toEqual({ stdout: '', stderr: '', code: 0 })
    node.exec(`echo -n x > ${RULE}; printf 'y\\n' >> ${RULE}; printf '%s-%s' 1 2 >${RULE}`)
    expect(written).toEqual(['start a jobid={b} rate=5\n', 'x', 'y\n', '1-2'])
  })

  it('tells who failed: the shell at opening, the command at writing', () => {
    const { node, written } = oss()
    expect(node.exec(`printf bad > ${RULE}`)).toEqual({
      stdout: '',
      stderr: 'bash: line 1: printf: write error: File exists\n',
      code: 1,
    })
    expect(node.exec('echo 1 > /sys/fs/lustre/version')).toEqual({
      stdout: '',
      stderr: 'bash: line 1: /sys/fs/lustre/version: Permission denied\n',
      code: 1,
    })
    expect(node.exec('lctl set_param jobid_var=x > /sys/fs/lustre/version').code).toBe(1)
    expect(written).toEqual([])
    for (const path of ['/sys/fs/lustre/nosuch', '/sys/fs/lustre', '/tmp/x']) {
      const r = node.exec(`echo x > ${path}`)
      expect(r.code, path).toBe(1)
      expect(r.stderr, path).toContain(`bash: line 1: ${path}: `)
    }
  })

  it('throws streams away, joins them in the order written, and reads', () => {
    const { node } = oss()
    expect(node.exec('lctl get_param nosuch version 2>/dev/null')).toEqual({
      stdout: 'version=2.17.57\n',
      stderr: '',
      code: 2,
    })
    expect(node.exec('lctl get_param nosuch version >/dev/null 2>&1')).toEqual({ stdout: '', stderr: '', code: 2 })
    expect(node.exec('lctl get_param nosuch version 2>&1 >/dev/null').stdout).toMatch(/^error/)
    expect(node.exec('echo x >&2')).toEqual({ stdout: '', stderr: 'x\n', code: 0 })
    expect(node.exec('wc -l < /sys/fs/lustre/version').stdout).toBe('1\n')
    expect(node.exec('lctl </dev/null')).toEqual({ stdout: '', stderr: '', code: 0 })
    expect(node.exec('cat < /nosuch').stderr).toBe('bash: line 1: /nosuch: No such file or directory\n')
  })
})

describe('text tools', () => {
  const text = 'job1\nA b=2\n\njob10\njob2\na.c\njob2\n'
  /** The same commands in a real shell, all at once. */
  const real = (commands: readonly string[]): string[] => {
    const script = commands.map((c) => `printf '%s' "$TEXT" | ${c}; printf '\\0'`).join('\n')
    const env = { PATH: process.env.PATH, LC_ALL: 'C', TEXT: text }
    return execFileSync('bash', ['--norc', '-c', script], { encoding: 'utf8', env, input: '' }).split('\0').slice(0, -1)
  }
  const emulated = (command: string): string => out(`printf '${text.replaceAll('\n', '\\n')}' | ${command}`)

  it('answer as the real ones do', () => {
    const commands = [
      'grep job',
      'grep -c job',
      'grep -v job',
      'grep -n .',
      "grep -i 'A'",
      "grep -E 'job(1|2)+$'",
      "grep 'job[12]$'",
      "grep 'job[[:digit:]][[:digit:]]'",
      "grep 'job\\(1\\|2\\)0\\?$'",
      "grep -F 'a.c'",
      "grep 'a+c' || echo none",
      'grep -A1 b=2',
      'grep -A 1 -B1 job10',
      'grep -A0 job1',
      'grep -q job && echo yes',
      'grep nosuch || echo no',
      'head -2',
      'head -n 3',
      'head -c 7',
      'tail -2',
      'tail -n1',
      'tail -c 5',
      'head -n 0',
      'tail -n 0',
      'wc -l',
      'wc -c',
      'sort',
      'sort -r',
      'sort -u',
      'sort | uniq -c',
      'sort | uniq -d',
      'sort -n',
      'cat | cat -',
      "echo -e 'a\\tb\\x41'",
      "echo 'a\\tb'",
      "printf '%s:%s\\n' a b c",
      "printf 'a%%b\\n'",
      'printf "%d\\n" 5',
    ]
    const answers = real(commands)
    commands.forEach((c, i) => expect(emulated(c), c).toBe(answers[i]))
  })

  it('refuse options they do not know, by name', () => {
    const commands = [
      'grep -o x',
      'head -v',
      'sort -k2',
      'uniq -i',
      'wc -w',
      'cat -n',
      "printf '%x' 1",
      'tail -f',
      'id -g',
    ]
    for (const c of commands) {
      const r = oss().node.exec(c)
      expect(r.code, c).not.toBe(0)
      expect(r.stderr, c).toMatch(/known to this emulated shell/)
    }
    expect(oss().node.exec('sleep 5').code).toBe(1)
    expect(oss().node.exec('timeout 20 sleep 5').code).toBe(1)
  })

  it('leave out lines that are not UTF-8 and say so, as GNU grep does', () => {
    const r = oss().node.exec("printf 'job a\\njob \\xc3\\xa9\\njob \\xc3\\x5c\\njob b\\n' | grep job")
    expect(r).toEqual({
      stdout: 'job a\njob \u00c3\u00a9\njob b\n',
      stderr: 'grep: (standard input): binary file matches\n',
      code: 0,
    })
  })

  it('read parameters as files', () => {
    const { node } = oss()
    expect(node.exec('cat /sys/fs/lustre/version /sys/fs/lustre/jobid_var').stdout).toBe('2.17.57\ndisable\n')
    expect(node.exec('cat /sys/kernel/debug/lustre/x /sys/fs/lustre /nosuch')).toEqual({
      stdout: '',
      stderr:
        'cat: /sys/kernel/debug/lustre/x: No such device\ncat: /sys/fs/lustre: Is a directory\n' +
        'cat: /nosuch: No such file or directory\n',
      code: 1,
    })
    expect(node.exec('grep . /sys/module/ptlrpc/parameters/*').stdout).toBe(
      '/sys/module/ptlrpc/parameters/tbf_depth:3\n/sys/module/ptlrpc/parameters/tbf_rate:10000\n',
    )
  })
})

describe('the user of a shell', () => {
  const user = { name: 'u1000', uid: 1000 }

  it('finds lctl on the PATH as root only', () => {
    const { node } = oss()
    expect(node.exec('lctl get_param version', user)).toEqual({
      stdout: '',
      stderr: 'bash: line 1: lctl: command not found\n',
      code: 127,
    })
    expect(node.exec('/usr/sbin/lctl get_param version', user).stdout).toBe('version=2.17.57\n')
    expect(node.exec('/usr/sbin/lctl get_param version').stdout).toBe('version=2.17.57\n')
    expect(node.exec('systemd-run --unit=x --on-active=1 true', user).stderr).toMatch(/Access denied/)
  })

  it('identifies the user', () => {
    const { node } = oss()
    expect(node.exec('id; id -u; whoami; hostname', user).stdout).toBe(
      'uid=1000(u1000) gid=1000(u1000) groups=1000(u1000)\n1000\nu1000\noss01\n',
    )
    expect(node.exec('id -un; id -u').stdout).toBe('root\n0\n')
  })

  it('reads sysfs, but not debugfs', () => {
    const { node, written } = oss()
    expect(node.exec(`cat /sys/fs/lustre/version; cat ${RULE}`, user)).toMatchObject({
      stdout: '2.17.57\n',
      stderr: `cat: ${RULE}: Permission denied\n`,
    })
    expect(node.exec(`echo x > ${RULE}`, user).stderr).toBe(`bash: line 1: ${RULE}: Permission denied\n`)
    expect(node.exec('echo x > /sys/fs/lustre/jobid_var', user).code).toBe(1)
    expect(node.exec('cat /sys/kernel/debug/lustre/*', user).code).toBe(1)
    expect(written).toEqual([])
  })
})

describe('nested commands', () => {
  it('print the messages of sh below sh -c, and timeout runs its command', () => {
    const { node } = oss()
    expect(node.exec("sh -c 'nosuch'").stderr).toBe('sh: 1: nosuch: not found\n')
    expect(node.exec('timeout 5 lctl get_param -n version | cat').stdout).toBe('2.17.57\n')
    expect(node.exec('timeout 5 nosuch')).toMatchObject({
      code: 127,
      stderr: "timeout: failed to run command 'nosuch': No such file or directory\n",
    })
    expect(node.exec('timeout lctl').code).toBe(125)
  })
})
