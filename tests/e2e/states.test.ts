/** Exceptional states of the window: their texts, available actions and appearance. */
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { serveConsole, type Served } from '#electron/server/serve.ts'
import { launch, noBrowser, shots } from './browser.ts'
import { pinnedStyle, seen } from './states/pictures.ts'
import { SceneHost, type Scene } from './states/scene-host.ts'
import { NOW_MS, scenes } from './states/scenes.ts'

const SIZE = { width: 1120, height: 720 }

describe.skipIf(noBrowser !== undefined)('the states of the window', () => {
  let browser: Browser
  let served: Served
  let host: SceneHost
  let page: Page
  /** Page that compares screenshots. */
  let viewer: Page

  beforeAll(async () => {
    browser = await launch()
    host = new SceneHost()
    host.play(scenes.firstRun)
    const result = await serveConsole({
      router: host.router,
      port: 0,
      host: '127.0.0.1',
      webRoot: join(import.meta.dirname, '../../out/renderer'),
    })
    if (!result.ok) throw new Error(result.error.what)
    served = result.value
    viewer = await browser.newPage()
    // The style with the fonts does not belong to the page.
    const context = await browser.newContext({ viewport: SIZE, reducedMotion: 'reduce', bypassCSP: true })
    page = await context.newPage()
    await page.clock.setFixedTime(NOW_MS)
    await page.goto(served.url)
    await page.addStyleTag({ content: pinnedStyle })
  })
  afterAll(async () => {
    await browser?.close()
    await served?.close()
  })
  afterEach(async ({ task }) => {
    if (task.result?.state === 'fail') await page.screenshot({ path: join(shots, 'states-failed.png') })
  })

  const by = (id: string) => page.getByTestId(id)
  async function show(scene: Scene, view: string): Promise<void> {
    // Before the view is loaded, which requests some of it once.
    host.calls.length = 0
    host.play(scene)
    await page.evaluate((hash) => (location.hash = hash), `#/${view}`)
  }
  /** Changes the theme in the settings, as an operator does: charts use the colours of the setting. */
  async function theme(name: 'dark' | 'light'): Promise<void> {
    await page.keyboard.press('Control+k')
    await by('palette').waitFor()
    await page.keyboard.type(`:set theme ${name}`)
    await page.keyboard.press('Enter')
    await by('palette').waitFor({ state: 'detached' })
    await expect.poll(() => page.evaluate(() => document.documentElement.dataset['theme'])).toBe(name)
  }
  async function looks(name: string): Promise<void> {
    await page.mouse.move(0, 0)
    expect(await seen(page, viewer, name)).toBe('')
  }

  it('first run: greets once, with the demo already playing', async () => {
    await by('first-run').waitFor()
    expect(await by('first-run').innerText()).toContain('Four OSTs, one heavy job (emulated)')
    expect(await by('tile-read').innerText()).toMatch(/4.600/)
    // The panels are drawn one after the other.
    await by('mover').first().waitFor()
    await looks('first-run')
    await theme('light')
    await looks('first-run-light')
    await theme('dark')
    await by('first-hog').click()
    await expect.poll(() => page.url()).toContain('/jobs')
    await page.evaluate(() => (location.hash = '#/overview'))
    await by('tile-read').waitFor()
    expect(await by('first-run').count()).toBe(0)
    expect(await page.evaluate(() => localStorage.getItem('sluice.first-run'))).toBe('past')
  })

  it('connecting: the checklist in its order, how far it is, and Cancel', async () => {
    await page.keyboard.press('Escape')
    await show(scenes.connecting, 'overview')
    await by('connecting').waitFor()
    const steps = await by('checklist')
      .locator('li')
      .evaluateAll((all) => all.map((li) => li.getAttribute('data-step')))
    expect(steps.slice(0, 10)).toEqual([
      'config',
      'dns',
      'tcp',
      'host key',
      'auth',
      'shell',
      'sudo',
      'lctl',
      'role',
      'policy',
    ])
    expect(await by('step-of').innerText()).toBe('step 8 of 13')
    await looks('connecting')
    await by('cancel-connect').click()
    await expect.poll(() => host.calls).toContainEqual({ path: 'clusters.disconnect', input: { name: 'altair' } })
  })

  it('permission short: the command that was refused, on how many servers, and the line to ask for', async () => {
    await show(scenes.permission, 'overview')
    await by('permission').waitFor()
    expect(await by('refused-command').innerText()).toBe('sudo -n lctl get_param ost.OSS.ost_io.nrs_tbf_rule')
    expect(await by('permission').innerText()).toContain('on 15 servers')
    expect(await by('sudoers').innerText()).toContain('NOPASSWD: /usr/sbin/lctl get_param')
    await looks('permission')
  })

  it('partial: who is missing and why, and every total is a lower bound', async () => {
    await show(scenes.partial, 'overview')
    await by('reporting').waitFor()
    expect(await by('reporting').innerText()).toContain('11/12 OSS reporting')
    for (const tile of ['read', 'write', 'rpc', 'queued'])
      expect(await by(`tile-${tile}`).innerText()).toContain('\u2265')
    await looks('partial')
    await by('reporting').click()
    expect(await by('reporting-list').innerText()).toMatch(/oss11\s+no answer in 3 s\s+since 14:31:03/)
    await page.keyboard.press('Escape')
  })

  it('stale: how old, who answers, and why behind one press; the data stays', async () => {
    await show(scenes.stale, 'overview')
    await by('stale').waitFor()
    expect(await by('stale').innerText()).toContain('9 of 12 OSS do not')
    expect(await by('source-word').first().innerText()).toBe('STALE 7 s')
    expect(await by('tile-read').innerText()).toMatch(/4.600/)
    await looks('stale')
    await theme('light')
    await looks('stale-light')
    await theme('dark')
    await by('stale-why').click()
    expect(await by('stale-reasons').innerText()).toContain('oss04')
    await page.keyboard.press('Escape')
  })

  it('disconnected: what stays, what runs on, when it is tried again; it can be worked on without', async () => {
    await show(scenes.disconnected, 'rules')
    await by('connection-lost').waitFor()
    const words = await by('connection-lost').innerText()
    expect(words).toContain('Connection to altair lost at 14:32:07')
    expect(words).toContain('3 staged changes')
    expect(words).toContain('4 timers keep running on the servers; the next stops mdstorm_u733 at 14:35:26')
    expect(words).toContain('attempt 4 failed')
    expect(words).toContain('SSH_LOST')
    expect(await page.getByText('hog4471').count()).toBeGreaterThan(0)
    await looks('disconnected')
    await theme('light')
    await looks('disconnected-light')
    await theme('dark')
    await by('retry-now').click()
    await expect.poll(() => host.calls).toContainEqual({ path: 'clusters.connect', input: { name: 'altair' } })
    await by('work-offline').click()
    expect(await by('connection-lost').count()).toBe(0)
    expect(await by('offline-bar').innerText()).toContain('Working offline, without altair')
  })

  it('no job ids: the cause and the command, never a blank table', async () => {
    await show(scenes.noJobs, 'jobs')
    await by('no-jobs').waitFor()
    await expect.poll(() => by('no-jobs').innerText()).toContain('jobid_var is disable on altair-mgs')
    expect(await by('no-jobs-command').innerText()).toBe('lctl set_param -P jobid_var=SLURM_JOB_ID')
    await looks('no-jobs')
    await by('show-targets').click()
    await by('tile-read').waitFor()
  })

  it('error: one bad line of a list leaves the others, and says what to do', async () => {
    await show(scenes.error, 'rules')
    await by('unread-lines').waitFor()
    const words = await by('unread-lines').innerText()
    expect(words).toContain('Line 4 is not a rule: backup_win nid={10.4.9.*@o2')
    expect(words).toContain('7 other rules were read')
    expect(words).toContain('Unaffected: 11 other servers')
    expect(words).toContain('TBF_PARSE_LINE')
    await looks('error')
  })

  it('partial commit: done, failed, unknown or not sent; one press makes the servers alike', async () => {
    await show(scenes.partialCommit, 'rules')
    await by('mode').getByText('Enforce').waitFor()
    if (await by('drawer-toggle').isVisible()) await by('drawer-toggle').click()
    await by('review').click()
    await by('typed').fill(await by('target').innerText())
    await by('commit').click()
    await by('commit-result').waitFor()
    const states = await by('commit-result')
      .locator('tbody tr')
      .evaluateAll((all) => all.map((r) => r.getAttribute('data-state')))
    expect(states).toEqual([...Array<string>(9).fill('done'), 'failed', 'unknown', 'not sent'])
    expect(await by('commit-says').innerText()).toContain('9 servers have the change, 3 do not.')
    expect(await by('roll-back').innerText()).toBe('Roll back the 9 servers that have it')
    await looks('partial-commit')
    await by('retry-rest').click()
    expect(await by('commit').isDisabled()).toBe(true)
    await page.keyboard.press('Escape')
  })

  it('sandbox invalid: which input is outside the model, by how much, and to leave it out', async () => {
    await show(scenes.sandbox, 'sandbox')
    await page.getByText('Checkpoint storm').first().click()
    await by('outside').waitFor()
    expect(await by('outside').innerText()).toContain('RPC size 4 KiB of 4718.bwa.u733 is below the fitted range')
    expect(await by('run').innerText()).toContain('with low confidence')
    await looks('sandbox-outside')
    await by('leave-out').click()
    await expect.poll(() => by('outside').count()).toBe(0)
  })

  it('long task: how many of how many, and Cancel', async () => {
    await show(scenes.longTask, 'incidents')
    await page.getByRole('button', { name: 'Bundle', exact: true }).click()
    await by('bundle-export').click()
    await by('bundle-progress').waitFor()
    await expect.poll(() => by('bundle-progress').innerText()).toMatch(/8 of 13 files, 62.%/)
    await looks('long-task')
    await by('bundle-cancel').click()
    await by('bundle-cancelled').waitFor()
  })
})
