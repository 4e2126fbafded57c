// SPDX-License-Identifier: Apache-2.0
// Puts the page together.

function drawReport() {
  const data = JSON.parse(document.getElementById('data').textContent);
  const page = document.getElementById('page');
  const sections = [
    drawHeader(data), drawDistributions(data), drawGantt(data), drawSwitches(data),
    drawGraph(data), drawTable(data),
    drawSampling(data),
    drawBounds(data),
    drawMisses(data),
    drawFacts('machine', 'Machine and conditions', data.context),
    drawFacts('sources', 'Where every figure came from', data.sources),
    drawTrace(data),
    html('footer', {}, `rclrt ${data.version}`),
  ];
  page.append(...sections.filter((section) => section));
}

drawReport();
