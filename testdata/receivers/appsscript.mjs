// A stand-in for Google Apps Script: it runs the doPost of the script that is
// named. Each line of standard input is a request, {"query", "contents"}; each
// line of output is the answer, {"error", "rows"}: an error is what the script threw.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import vm from 'node:vm';

const rows = []; // cells are {text}, {formula} or {value}
let locked = false;

// cell is what a sheet makes of a value: an apostrophe makes it text.
function cell(value) {
  if (typeof value !== 'string') return { value };
  if (value.startsWith("'")) return { text: value.slice(1) };
  return /^[=+\-@]/.test(value) ? { formula: value } : { value };
}

const needsLock = () => { if (!locked) throw new Error('the sheet is written without the lock'); };
const shown = (c) => String(c?.text ?? c?.value ?? '');
const sheet = {
  getLastRow: () => rows.length,
  appendRow(values) { needsLock(); rows.push(values.map(cell)); },
  getRange(row, column, height, width) {
    if (typeof row === 'string') {
      const [, letter] = /^([A-Z]):\1$/.exec(row), index = letter.charCodeAt(0) - 65;
      return {
        createTextFinder: (value) => {
          let entire = false;
          const finder = {
            matchEntireCell(on) { entire = on; return finder; },
            findNext: () => rows.some((r) => (entire ? shown(r[index]) === value : shown(r[index]).includes(value))) ? {} : null,
          };
          return finder;
        },
      };
    }
    return {
      setValues(values) {
        needsLock();
        if (row !== rows.length + 1 || column !== 1 || values.length !== height || values.some((v) => v.length !== width)) throw new Error('the range does not fit');
        rows.push(...values.map((v) => v.map(cell)));
      },
    };
  },
};
let made = false;
const book = { getSheetByName: () => (made ? sheet : null), insertSheet() { needsLock(); made = true; return sheet; } };
const context = vm.createContext({
  SpreadsheetApp: { getActiveSpreadsheet: () => book, flush() {} },
  LockService: { getScriptLock: () => ({ waitLock() { locked = true; }, releaseLock() { locked = false; } }) },
  ContentService: { createTextOutput: (text) => ({ text }) },
});
vm.runInContext(readFileSync(process.argv[2], 'utf8'), context);

createInterface({ input: process.stdin }).on('line', (line) => {
  const { query, contents } = JSON.parse(line);
  let error = '';
  if (contents !== '') {
    const parameters = {};
    for (const [name, value] of new URLSearchParams(query)) (parameters[name] ??= []).push(value);
    const parameter = Object.fromEntries(Object.entries(parameters).map(([name, values]) => [name, values[0]]));
    context.e = { parameter, parameters, postData: { contents, type: 'application/json' } };
    try {
      if (vm.runInContext('doPost(e)', context)?.text === undefined) error = 'it returned nothing';
    } catch (thrown) {
      error = String(thrown);
    }
    if (locked) error += ' the lock is kept';
  }
  console.log(JSON.stringify({ error, rows }));
});
