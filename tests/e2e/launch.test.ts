/**
 * The real Electron binary, if it is installed and a display is available. SLUICE_APP: an app.asar to run in place of the
 * checkout; SLUICE_MUST_LAUNCH=1: skipping is a failure.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { _electron as electron, type ElectronApplication } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '../..')

function binary(): string | undefined {
  const folder = join(root, 'node_modules/electron')
  try {
    const file = join(folder, 'dist', readFileSync(join(folder, 'path.txt'), 'utf8'))
    return existsSync(file) ? file : undefined
  } catch {
    return undefined
  }
}

function skipReason(): string | undefined {
  if (!binary()) return 'the Electron binary is not installed'
  if (process.platform === 'linux' && !process.env.DISPLAY && !process.env.WAYLAND_DISPLAY) return 'there is no display'
  if (!existsSync(join(root, 'out/main/main.js'))) return 'the console is not built'
  return undefined
}
const reason = skipReason()
if (reason && process.env.SLUICE_MUST_LAUNCH === '1') throw new Error(`the window was to be opened: ${reason}`)
if (reason) console.log(`The suite with the real Electron window is skipped: ${reason}.`)

describe.skipIf(reason)('the real Electron window', () => {
  let data: string
  let app: ElectronApplication

  beforeAll(async () => {
    data = mkdtempSync(join(tmpdir(), 'sluice-launch-'))
    // Chromium's sandbox does not work for root, the usual user in a container.
    const rootFlags = process.getuid?.() === 0 ? ['--no-sandbox'] : []
    app = await electron.launch({
      executablePath: binary() ?? '',
      args: [process.env.SLUICE_APP ?? root, ...rootFlags],
      env: { ...(process.env as Record<string, string>), SLUICE_DATA: data },
    })
  })
  afterAll(async () => {
    await app.close()
    rmSync(data, { recursive: true, force: true })
  })

  it('opens on the app scheme, with a port to the host and no other power', async () => {
    const page = await app.firstWindow()
    expect(page.url()).toMatch(/^app:\/\/sluice\//)
    const seen = await page.evaluate(async () => {
      const port = new Promise<boolean>((resolve) => {
        window.addEventListener('message', (event: MessageEvent<{ type?: string }>) => {
          if (event.data.type === 'sluice:port') resolve(event.ports.length === 1)
        })
      })
      window.postMessage({ type: 'sluice:connect' }, location.origin)
      const reached = await fetch('https://example.org/').then(
        () => true,
        () => false,
      )
      let evaluated = true
      try {
        ;(0, eval)('1')
      } catch {
        evaluated = false
      }
      const require = typeof (globalThis as { require?: unknown }).require
      return { port: await port, reached, evaluated, require, popup: window.open('https://example.org/') }
    })
    expect(seen).toEqual({ port: true, reached: false, evaluated: false, require: 'undefined', popup: null })
  })

  it('runs the sandbox in threads, whose programs lie in the archive where there is one', async () => {
    const page = await app.firstWindow()
    const by = (id: string) => page.getByTestId(id)
    await by('sample').waitFor({ timeout: 60_000 })
    await page.waitForTimeout(3_000) // records demand for the fork
    await page.keyboard.press('d')
    await by('progress').waitFor()
    await by('cancel').click()
    await by('parameters').click()
    for (const [id, value] of [
      ['param-seeds', '1'],
      ['param-seconds', '2'],
    ] as const) {
      await page.locator(`input[data-testid=${id}], [data-testid=${id}] input`).fill(value)
    }
    await page.keyboard.press('Escape')
    await page.keyboard.press('r')
    await by('verdict').waitFor({ timeout: 60_000 })
  })

  it('has a sandboxed page, and a menu with the commands of the window', async () => {
    const flags = await app.evaluate(({ BrowserWindow }) => {
      const contents = BrowserWindow.getAllWindows()[0]?.webContents as unknown as {
        getLastWebPreferences(): Record<string, unknown>
      }
      const { sandbox, contextIsolation, nodeIntegration, webviewTag } = contents.getLastWebPreferences()
      return { sandbox, contextIsolation, nodeIntegration, webviewTag: webviewTag ?? false }
    })
    expect(flags).toEqual({ sandbox: true, contextIsolation: true, nodeIntegration: false, webviewTag: false })
    await expect
      .poll(() => app.evaluate(({ Menu }) => Menu.getApplicationMenu()?.items.map((item) => item.label) ?? []))
      .toEqual(expect.arrayContaining(['View', 'Console']))
  })

  it('comes back from a page that crashes and from a host that dies', async () => {
    const page = await app.firstWindow()
    await page.getByTestId('alerts').waitFor()
    const reloaded = page.waitForEvent('load')
    await app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.webContents.forcefullyCrashRenderer())
    await reloaded
    await page.getByTestId('alerts').waitFor()
    const lost = page.evaluate(
      () =>
        new Promise<void>((resolve) => {
          window.addEventListener('message', (event: MessageEvent<{ type?: string }>) => {
            if (event.data.type === 'sluice:lost') resolve()
          })
        }),
    )
    const killed = await app.evaluate(({ app: main }) => {
      const host = main.getAppMetrics().find((m) => m.serviceName === 'sluice-host' || m.name === 'sluice-host')
      return host !== undefined && process.kill(host.pid, 'SIGKILL')
    })
    expect(killed).toBe(true)
    await lost
    await page.getByTestId('connection-lost').or(page.getByTestId('offline-bar')).waitFor({ state: 'detached' })
  })

  it('refuses a second instance of itself', async () => {
    const windows = await app.evaluate(({ app: main, BrowserWindow }) => {
      main.emit('second-instance')
      return BrowserWindow.getAllWindows().length
    })
    expect(windows).toBe(1)
  })
})
