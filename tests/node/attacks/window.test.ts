/** Attacks on the window, its frames and its exits: by a page, a link or a command line. */
import { EventEmitter } from 'node:events'
import { Linter } from 'eslint'
import { ESLint } from 'eslint'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { lockContents } from '#electron/main/lockdown.ts'
import { openExternal, safeLink } from '#electron/main/open-external.ts'
import { contentPolicy } from '#electron/server/files.ts'
import { switchFailure } from '#electron/main/switches.ts'
import { windowOptions } from '#electron/main/window.ts'
import type { FakeElectron } from '../fake-electron.ts'

vi.mock('electron', async () => {
  const { fakeElectron } = await import('../fake-electron.ts')
  const fake = fakeElectron()
  return { ...fake, default: fake }
})
const fake = (await import('electron')) as unknown as FakeElectron
const { links } = fake

describe('a page that reaches for the machine', () => {
  it('finds no Node, no webview, no way out of its sandbox', () => {
    expect(windowOptions('/preload.cjs', { width: 1, height: 1 }).webPreferences).toEqual({
      preload: '/preload.cjs',
      sandbox: true,
      contextIsolation: true,
      webSecurity: true,
      nodeIntegration: false,
      nodeIntegrationInWorker: false,
      nodeIntegrationInSubFrames: false,
      webviewTag: false,
      allowRunningInsecureContent: false,
      experimentalFeatures: false,
      navigateOnDragDrop: false,
      spellcheck: false,
      disableDialogs: true,
      devTools: true,
    })
  })

  it('runs only its own files, and connects to no other host', () => {
    const policy = new Map(
      contentPolicy("'none'")
        .split('; ')
        .map((d) => [d.split(' ')[0], d.split(' ').slice(1).join(' ')] as const),
    )
    expect(policy.get('default-src')).toBe("'none'")
    expect(policy.get('script-src')).toBe("'self'")
    expect(policy.get('connect-src')).toBe("'none'")
    expect(policy.get('form-action')).toBe("'none'")
    expect(policy.get('base-uri')).toBe("'none'")
    expect(policy.get('frame-ancestors')).toBe("'none'")
    expect([...policy.values()].join(' ')).not.toMatch(/unsafe-eval|\*|https?:/)
  })

  it('and navigates to what looks like it goes nowhere', () => {
    const contents = Object.assign(new EventEmitter(), {
      setWindowOpenHandler: vi.fn(),
      setWebRTCIPHandlingPolicy: vi.fn(),
    })
    lockContents(contents as never)
    for (const url of [
      'app://sluice@evil.example/',
      'app://sluice:80/',
      'APP://SLUICE.evil/',
      'app:sluice',
      'file:///etc/passwd',
      'javascript:alert(1)',
      'data:text/html,<script>1</script>',
      'blob:app://sluice/1',
      'https://sluice/',
      '',
    ]) {
      const event = { url, preventDefault: vi.fn() }
      contents.emit('will-navigate', event)
      expect(event.preventDefault, url).toHaveBeenCalledOnce()
      contents.emit('will-frame-navigate', event)
      expect(event.preventDefault, url).toHaveBeenCalledTimes(2)
    }
  })

  it('cannot keep its window open against a close, nor send past its policy', () => {
    const contents = Object.assign(new EventEmitter(), {
      setWindowOpenHandler: vi.fn(),
      setWebRTCIPHandlingPolicy: vi.fn(),
    })
    lockContents(contents as never)
    const objection = { preventDefault: vi.fn() }
    contents.emit('will-prevent-unload', objection)
    expect(objection.preventDefault).toHaveBeenCalledOnce()
    expect(contents.setWebRTCIPHandlingPolicy).toHaveBeenCalledWith('disable_non_proxied_udp')
  })
})

describe('a link that is no link', () => {
  beforeEach(() => void links.splice(0))

  it.each([
    'http://example.org/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'data:text/html,x',
    'smb://host/share',
    'tabby://run?command=id',
    'ms-msdt:/id',
    'vbscript:x',
    '',
    'example.org',
    '//example.org',
    'https:///',
    'https://user:word@example.org/',
    'https://example.org\u202e/gpj.exe',
    'https://example.org/\nfile:///x',
    'https://example.org\\@evil.example/',
    ' https://example.org/',
    `https://example.org/${'a'.repeat(3000)}`,
  ])('%j opens nothing', async (address) => {
    expect(await openExternal(address)).toMatchObject({ ok: false, error: { code: 'LINK_REFUSED' } })
    expect(links).toEqual([])
  })

  it('and one that is goes out as it is read', async () => {
    expect(safeLink('https://EXAMPLE.org/a?b=c#d')).toEqual({ ok: true, value: 'https://example.org/a?b=c#d' })
    expect((await openExternal('https://example.org/')).ok).toBe(true)
    expect(links).toEqual([['https://example.org/']])
  })
})

describe('a command line that opens a door', () => {
  const start = (isPackaged: boolean, isRoot = false) => ({ isPackaged, isRoot })

  it.each(['--remote-debugging-port=0', '--inspect', '--inspect-brk=9229', '-inspect', '--remote-debugging-pipe'])(
    '%s does not start an installed console',
    (word) => {
      expect(switchFailure(['--history', '/h', word], start(true))).toMatchObject({ code: 'SWITCH_REFUSED' })
      expect(switchFailure([word], start(true, true))).toBeDefined()
      // Tests and developers can attach to a checkout.
      expect(switchFailure([word], start(false))).toBeUndefined()
    },
  )

  it.each([
    ' --remote-debugging-port=0',
    '\t--inspect',
    '--JS-Flags=--x',
    '--browser-subprocess-path=/tmp/x',
    '--renderer-cmd-prefix=/tmp/x',
    '--bypasscsp-schemes=app',
    '--user-data-dir=/tmp/x',
    '--no-zygote',
  ])('%j is read as Chromium reads it', (word) => {
    expect(switchFailure([word], start(true))).toMatchObject({ code: 'SWITCH_REFUSED' })
  })

  it('begins with a slash on Windows alone', () => {
    const windows = { ...start(true), platform: 'win32' } as const
    expect(switchFailure(['/remote-debugging-port=0'], windows)).toBeDefined()
    expect(switchFailure(['--history', '/inspect'], { ...windows, platform: 'linux' })).toBeUndefined()
  })

  it('takes no sandbox away, but where Chromium has none', () => {
    expect(switchFailure(['--no-sandbox'], start(true))).toBeDefined()
    expect(switchFailure(['--no-sandbox'], start(true, true))).toBeUndefined()
    expect(switchFailure(['--history=/a/--inspect', '/home/inspect'], start(true))).toBeUndefined()
  })
})

describe('HTML from data, and doors beside the one', () => {
  const rulesOf = async (file: string) => {
    const config = (await new ESLint().calculateConfigForFile(file)) as { rules: Linter.RulesRecord }
    return config.rules
  }
  const faults = (rules: Linter.RulesRecord, code: string) => {
    const { 'no-restricted-properties': properties, 'no-restricted-syntax': syntax } = rules
    const own = {
      ...(properties && { 'no-restricted-properties': properties }),
      ...(syntax && { 'no-restricted-syntax': syntax }),
    }
    return new Linter().verify(code, [{ files: ['**/*.js'], rules: own }], 'x.js').length
  }

  it.each(['renderer/app/App.vue', 'renderer/widgets/Btn.vue', 'electron/host/host.ts', 'core/base/units.ts'])(
    'cannot be written in %s',
    async (file) => {
      const rules = await rulesOf(file)
      for (const code of [
        'a.innerHTML = b',
        'a.outerHTML = b',
        "a.insertAdjacentHTML('x', b)",
        "a['innerHTML'] = b",
        'h(a, { innerHTML: b })',
        'document.write(b)',
        'shell.openExternal(b)',
      ]) {
        expect(faults(rules, code), code).toBe(1)
      }
      expect(faults(rules, 'a.textContent = b')).toBe(0)
      expect((rules['vue/no-v-html'] as [number] | undefined)?.[0]).toBe(2)
    },
  )

  it('leave one file that opens the browser', async () => {
    expect(faults(await rulesOf('electron/main/open-external.ts'), 'shell.openExternal(b)')).toBe(0)
    expect(faults(await rulesOf('electron/main/native.ts'), 'shell.openExternal(b)')).toBe(1)
  })
})
