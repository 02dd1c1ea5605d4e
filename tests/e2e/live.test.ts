/** A cluster over real SSH, from its first host key to a rule that expires, in the window. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { fingerprint, noSshd, scratch } from '../kits/electron/ssh/sshd.ts'
import { startLab, type Lab } from '../lab/lab.ts'
import { launch, noBrowser, openConsole, shots, type RunningConsole } from './browser.ts'
import { lookAt, openPage, type OpenPage } from './page.ts'

const HOSTS = ['oss01', 'oss02', 'mds01'] as const

describe.skipIf(noBrowser !== undefined || noSshd !== '')('a cluster over SSH, in the window', () => {
  let browser: Browser
  let lab: Lab
  let running: RunningConsole
  let open: OpenPage
  let page: Page

  beforeAll(async () => {
    ;[browser, lab] = await Promise.all([launch(), startLab({ servers: [...HOSTS] })])
    // Like ~/.ssh/config of an admin before the first connection: names and keys, but no known hosts.
    const home = scratch()
    const aliases = readFileSync(lab.sshConfig, 'utf8')
    writeFileSync(join(home, 'config'), aliases.replace(/^.*UserKnownHostsFile.*\n/gm, ''), { mode: 0o600 })
    running = await openConsole(undefined, {
      ssh: { home, configFile: join(home, 'config'), knownHosts: [], agentSocket: '' },
    })
    open = await openPage(browser, running.served.url)
    page = open.page
    // Screenshots of the final state, without animations.
    await page.emulateMedia({ reducedMotion: 'reduce' })
  })
  afterAll(async () => {
    await running?.close()
    await lab?.stop()
    await browser?.close()
  })

  // Screenshot of the window when a step failed.
  afterEach(async ({ task }) => {
    if (task.result?.state === 'fail') await page.screenshot({ path: join(shots, 'live-failed.png') })
  })

  const by = (id: string) => page.getByTestId(id)
  const keyOf = (host: string): string => fingerprint(lab.node(host).sshd.hostKeys[0] as string)

  it('is added: address, fingerprint, checklist, and first samples within ten seconds of Connect', async () => {
    await page.keyboard.press('0')
    await by('add-cluster').click()
    await page.getByPlaceholder('altair-mgs').fill('oss[01-02] mds01')
    await by('cluster-name').fill('lab')
    await page.getByText('DEV', { exact: true }).first().click()
    await by('panel-continue').click()
    await by('host-key').waitFor()
    // Before the fingerprint matches, no button is enabled and nothing of the user was sent.
    expect(await by('trust').isDisabled()).toBe(true)
    await by('paste-fingerprint').fill(`SHA256:${'A'.repeat(43)}`)
    expect(await by('trust').isDisabled()).toBe(true)
    expect(lab.node('oss01').sshd.log()).not.toContain('Accepted publickey')
    await by('paste-fingerprint').fill(keyOf('oss01'))
    expect(await lookAt(page, 'connections-key', 'dark')).toEqual([])
    await by('trust').click()
    await expect.poll(() => by('panel-continue').isEnabled()).toBe(true)
    expect(await lookAt(page, 'connections-checklist', 'dark')).toEqual([])
    await by('panel-continue').click()
    for (const host of ['oss02', 'mds01']) {
      await page.locator(`[data-host="${host}"]`).click()
      await by('paste-fingerprint').fill(keyOf(host))
      await by('trust').click()
      await expect.poll(() => page.locator(`[data-host="${host}"]`).innerText()).toMatch(/ok|works/)
    }
    await by('panel-connect').click()
    const began = Date.now()
    await expect.poll(() => running.host.clusters.find('lab')?.console?.monitor.sample ?? 0).toBeGreaterThan(0)
    expect(Date.now() - began).toBeLessThan(10_000)
    await by('panel-done').click()
  })

  it('stands on its card with every server, and looks as it should in both themes', async () => {
    const card = by('cluster-card').filter({ hasText: 'lab' })
    await expect.poll(() => card.innerText()).toMatch(/live/)
    for (const theme of ['dark', 'light']) {
      await page.evaluate((t) => (document.documentElement.dataset['theme'] = t), theme)
      expect(await lookAt(page, 'connections', theme)).toEqual([])
    }
    await page.evaluate(() => (document.documentElement.dataset['theme'] = 'dark'))
    await card.getByTestId('card-open').click()
    await expect.poll(() => by('cluster').innerText()).toContain('lab')
    await page.keyboard.press('1')
    await expect.poll(() => by('source-word').first().innerText()).toMatch(/live/i)
  })

  it('shows its jobs, and none of the emulator that was on screen before', async () => {
    await page.keyboard.press('2')
    await expect.poll(() => page.locator('[role=row]').count()).toBeGreaterThan(3)
    expect(await lookAt(page, 'live-jobs', 'dark')).toEqual([])
    expect(running.host.monitor.source.kind).toBe('LIVE')
  })

  it('takes no rule before writing was allowed there, and unlocked by its name', async () => {
    await page.keyboard.press('0')
    await by('cluster-card').filter({ hasText: 'lab' }).getByTestId('card-menu').click()
    await by('safe-review+unlock').click()
    await expect.poll(() => running.host.clusters.find('lab')?.cluster.input.safeMode).toBe('review+unlock')
    // The lab uses root logins, which write nothing until they are allowed by the cluster's name.
    await by('cluster-card').filter({ hasText: 'lab' }).getByTestId('card-menu').click()
    await by('menu-root').click()
    await by('root-typed').fill('lab')
    await by('root-allow').click()
    await expect.poll(() => running.host.clusters.find('lab')?.cluster.input.allowRoot).toBe(true)
    await by('cluster').click()
    // The menu offers the unlock as soon as the window knows of the new safe mode.
    await by('menu-unlock').waitFor()
    await by('mode-enforce').click()
    await by('unlock-dialog').waitFor()
    await by('unlock-typed').fill('emulator')
    expect(await by('unlock').isDisabled()).toBe(true)
    await by('unlock-typed').fill('lab')
    await by('unlock').click()
    await expect.poll(() => by('mode').innerText()).toMatch(/Enforce/)
    expect(await lab.rules('oss01')).not.toContain('sl_cap')
  })

  it('is written to after review: timer first, the first server watched, read back; and every server has it', async () => {
    await page.keyboard.press('3')
    await by('new-rule').click()
    await by('rule-text').fill('reg start sl_cap jobid={4690*} rate=25')
    await by('stage').click()
    await by('review').click()
    await by('review-dialog').waitFor()
    expect(await lookAt(page, 'live-review', 'dark')).toEqual([])
    const typed = await by('target').innerText()
    await by('typed').fill(typed)
    await by('commit').click()
    await expect.poll(() => lab.rules('oss01')).toContain('sl_cap')
    await expect.poll(() => lab.rules('oss02'), { timeout: 60_000 }).toContain('sl_cap')
    await by('commit-result').waitFor()
    const { stdout } = await lab.exec('oss02', 'systemctl list-timers --all')
    expect(stdout).toContain('sluice-')
  })

  it('is stopped by one button: no rule of Sluice is left on any server', async () => {
    await page.keyboard.press('Escape')
    await by('stop').click()
    await by('stop-dialog').waitFor()
    expect(await lookAt(page, 'live-stop', 'dark')).toEqual([])
    // The stop must be pressed twice.
    await by('stop-all').click()
    await by('stop-all').click()
    await by('stop-result').waitFor()
    for (const host of ['oss01', 'oss02']) {
      await expect.poll(() => lab.rules(host)).not.toContain('sl_cap')
    }
    expect(open.errors).toEqual([])
  })
})
