// Passkeys with Chromium's virtual authenticator: added, used alone and after the
// password, refused where the device or its copy says something wrong, renamed and
// removed; and what the pages say where there can be none.
import { check, job, must, old, open, signIn, end } from './lib.mjs';

const settings = job.base + '/settings/sign-in', addForm = 'form[data-passkey="/settings/sign-in/passkeys/options"]', useForm = 'form[data-passkey="/login/passkey/options"]';

// device gives the page a phone that is unlocked by its user.
async function device(page, options = {}) {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: { protocol: 'ctap2', ctap2Version: 'ctap2_1', transport: 'internal', hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true, ...options },
  });
  const send = (what, more = {}) => cdp.send('WebAuthn.' + what, { authenticatorId, ...more });
  return {
    send,
    keys: async () => (await send('getCredentials')).credentials,
    // becomes replaces the passkey by one that was copied and changed.
    becomes: async (credential) => { await send('clearCredentials'); await send('addCredential', { credential }); },
  };
}

async function add(page, name, password = job.password) {
  await page.goto(settings);
  await page.fill(`${addForm} [name=name]`, name);
  await page.fill(`${addForm} [name=present_password]`, password);
  await page.click(`${addForm} button[type=submit]`);
}

async function use(page) {
  await page.click(`${useForm} button[type=submit]`);
}

async function signOut(page) {
  await page.goto(job.base + '/help');
  await page.click('.who form[action="/logout"] button');
  await page.waitForURL(job.base + '/login');
}

const says = async (page, text, what) => {
  await page.getByText(text).first().waitFor({ timeout: 30_000 }).catch(() => {});
  check(await page.getByText(text).first().isVisible(), `${what}: ${await page.locator('main').innerText()}`);
};

const page = await open({ locale: 'en-US' });
await page.addInitScript(old);
const phone = await device(page);
await signIn(page, job.name, job.password);
await page.goto(settings);
await must(page, 'passkeys none');

// A wrong password adds nothing. The device then replaces what it has made.
await add(page, 'my phone', 'wrong password');
await says(page, 'Current password is incorrect', 'a wrong password');
check(await page.inputValue(`${addForm} [name=name]`) === 'my phone', 'the name is lost');
await add(page, 'my phone');
await page.locator('#secret').waitFor();
check((await phone.keys()).length === 1, 'the device has more than one passkey');
check((await page.locator('#secret').innerText()).trim().split('\n').length === 10, 'no recovery codes');

// The device has one: it makes no other.
await add(page, 'again');
await says(page, 'This device has a passkey of yours already', 'a second passkey');
await page.goto(settings);
await must(page, 'passkeys one');
await page.setViewportSize({ width: 390, height: 844 });
await must(page, 'passkeys one 390');
await page.setViewportSize({ width: 1280, height: 900 });

// By itself, without a name or a password.
await signOut(page);
await must(page, 'passkeys login');
await use(page);
await page.waitForURL(job.base + '/');

// After the password.
async function halfway() {
  await signOut(page);
  await page.fill('[name=name]', job.name);
  await page.fill('[name=password]', job.password);
  await page.click('form[action="/login"] button[type=submit]');
  await page.waitForURL(job.base + '/login/code');
}
await halfway();
await must(page, 'passkeys code');
await use(page);
await page.waitForURL(job.base + '/');

// The user isn't who unlocked the device.
await signOut(page);
await phone.send('setUserVerified', { isUserVerified: false });
await use(page);
await says(page, 'Nothing was done', 'no user verified');
check(new URL(page.url()).pathname === '/login', `no user verified: at ${page.url()}`);
await phone.send('setUserVerified', { isUserVerified: true });

// A copy that counts from an earlier signature.
const [kept] = await phone.keys();
check(kept.signCount > 1, `the count is ${kept.signCount}`);
await phone.becomes({ ...kept, signCount: 0 });
await use(page);
await says(page, 'there may be a copy of it', 'a count that goes back');
await phone.becomes({ ...kept, signCount: kept.signCount + 5 });
await use(page);
await page.waitForURL(job.base + '/');

// A copy on a device of another kind.
await signOut(page);
const [now] = await phone.keys();
await phone.becomes({ ...now, backupEligibility: true, backupState: true });
await use(page);
await says(page, 'moved to a device or program of another kind', 'copied to a device of another kind');
await phone.becomes({ ...now, signCount: now.signCount + 5 });

// Without a passkey for this address.
const [mine] = await phone.keys();
await phone.send('clearCredentials');
await use(page);
await says(page, 'there is no passkey for this address', 'a device without a passkey');
await phone.becomes(mine);

// Two pages at the same time: both have a challenge of their own.
const other = await page.context().newPage();
const tablet = await device(other);
await other.goto(job.base + '/login');
await tablet.becomes({ ...mine, signCount: mine.signCount + 50 });
await Promise.all([use(page).then(() => page.waitForURL(job.base + '/')), page.waitForTimeout(0)]);
await signOut(page);
await other.goto(job.base + '/login');
await use(other);
await other.waitForURL(job.base + '/');
await other.close();
await page.goto(job.base + '/login'); // signed in by the other page
await page.waitForURL(job.base + '/');

// Its page: another name, and removed with the password.
await page.goto(settings);
await page.click('a[href$="/passkeys/1"]');
await page.waitForURL(settings + '/passkeys/1');
await must(page, 'passkey');
await page.setViewportSize({ width: 390, height: 844 });
await must(page, 'passkey 390');
await page.setViewportSize({ width: 1280, height: 900 });
await page.fill('[name=name]', 'old phone');
await page.click('form[action$="/passkeys/1"] button');
await says(page, 'old phone', 'renamed');
await page.fill('[name=present_password]', job.password);
await page.click('form[action$="/remove"] [type=submit]');
await page.waitForURL(settings);
await says(page, 'Passkey removed', 'removed');
await signOut(page);
await use(page);
await says(page, 'belong to a user here', 'a removed passkey');
await signIn(page, job.name, job.password); // the password is enough again

// A password manager has copies of its passkeys on several devices.
await phone.send('clearCredentials');
await phone.send('removeVirtualAuthenticator');
await device(page, { defaultBackupEligibility: true, defaultBackupState: true });
await add(page, 'password manager');
await page.locator('#secret').waitFor();
await page.goto(settings + '/passkeys/2');
await says(page, 'on several devices of yours', 'a copied passkey');

// Where there can be none, the pages say why: no scripts, no https.
const still = await open({ locale: 'en-US', scripts: false });
await still.goto(job.base + '/login');
check((await still.locator('main').innerText()).includes('Passkeys need JavaScript'), 'without scripts'); // no locator looks into noscript
check(!await still.isVisible(useForm), 'without scripts the form is there');
const plain = await open({ locale: 'vi-VN', base: job.plain });
await plain.goto(job.plain + '/login');
await plain.fill('[name=name]', job.name);
await plain.fill('[name=password]', job.password);
await plain.click('form[action="/login"] button[type=submit]');
await plain.waitForURL(job.plain + '/login/code');
await says(plain, 'Passkey cần https', 'on plain http');
await must(plain, 'passkeys code plain');
await end();
